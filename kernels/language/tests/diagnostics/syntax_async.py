async def program(v):
    return v.degree
