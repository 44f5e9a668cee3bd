def program(v):
    v.h = torch.relu(v.x)
    return v.h
