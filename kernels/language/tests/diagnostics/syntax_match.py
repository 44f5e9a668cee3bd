def program(v, mode="a"):
    match mode:
        case "a":
            return v.degree
    return v.id
