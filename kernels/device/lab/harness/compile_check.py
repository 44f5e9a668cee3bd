"""Compile a kernel file with NVRTC here (no GPU): registers, spills per target. usage: compile_check.py FILE 'D=16 B=8' 'D=32' ... [--arch 90]"""
import ctypes, os, re, sys
lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../nvrtc/lib/libnvrtc.so"))
def compile(src, opts):
    p = ctypes.c_void_p(); lib.nvrtcCreateProgram(ctypes.byref(p), src.encode(), b"k.cu", 0, None, None)
    o = (ctypes.c_char_p * len(opts))(*[x.encode() for x in opts])
    rc = lib.nvrtcCompileProgram(p, len(opts), o)
    n = ctypes.c_size_t(); lib.nvrtcGetProgramLogSize(p, ctypes.byref(n)); b = ctypes.create_string_buffer(n.value); lib.nvrtcGetProgramLog(p, b)
    return rc, b.value.decode()
def report(src, defs, arch):
    opts = ["--std=c++17", f"--gpu-architecture=sm_{arch}", "--ptxas-options=-v"] + [f"-D{d}" for d in defs.split()]
    rc, log = compile(src, opts)
    if rc: return "ERROR\n" + log
    out = []
    name = None
    for l in log.splitlines():
        m = re.search(r"Compiling entry function '(\w+)'", l); name = m.group(1) if m else name
        m = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", l); spill = m.groups() if m else None
        if m: sp = m.group(0) if m.group(1) != "0" else ""
        m = re.search(r"Used (\d+) registers", l)
        if m: out.append(f"{name}:{m.group(1)}r{' SPILL ' + sp if sp else ''}")
        elif "warning" in l: out.append(l)
    return " ".join(out)
if __name__ == "__main__":
    args = sys.argv[1:]; arch = ["90"]
    if "--arch" in args: i = args.index("--arch"); arch = args[i + 1].split(","); del args[i:i + 2]
    src = open(args[0]).read()
    for d in args[1:] or [""]:
        for a in arch: print(f"{d:40} sm_{a}: {report(src, d, a)}", flush=True)
