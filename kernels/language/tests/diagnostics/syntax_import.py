import torch
from torch import nn

def program(v):
    return v.x
