class Net:
    def forward(self, v):
        return v.x
