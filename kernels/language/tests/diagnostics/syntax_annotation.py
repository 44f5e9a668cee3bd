def program(v, width: int = 3) -> float:
    h: float = 0.0
    return v.degree * width
