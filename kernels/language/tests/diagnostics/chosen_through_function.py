def program(v, start=0):
    return near(v, start) and start > 2

def near(v, who):
    return v.id == who
