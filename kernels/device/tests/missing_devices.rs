//! Proves that what is not there is told as such, and that nothing panics: on a machine without a
//! driver, on one without a device, and for a number that no device has.
use warploom_device::{Best, Code, Gpu, Kind, resolve};

#[test]
fn a_device_that_is_not_there_is_a_fault() {
    let count = Gpu::count();
    let beyond = match &count {
        Ok(count) => *count,
        Err(fault) => {
            assert!(matches!(fault.code, Code::Absent | Code::Driver { .. }), "{fault:?}");
            assert!(
                fault.to_string().contains("driver")
                    && (fault.code != Code::Absent || fault.hint.is_some()),
                "{fault:?}"
            );
            0
        }
    };
    for ordinal in [beyond, usize::MAX] {
        let fault = Gpu::open(ordinal).err().expect("no such device");
        assert!(fault.code == Code::Absent || count.is_err(), "{fault:?}");
        assert_eq!(Gpu::look(ordinal).unwrap_err(), fault);
    }
    assert_eq!(Gpu::driver_version().is_err(), count.is_err());
}

#[test]
fn planning_for_a_gpu_says_what_is_missing() {
    let count = Gpu::count().unwrap_or(0);
    for name in [
        "cuda".to_owned(),
        "cuda:0".to_owned(),
        format!("cuda:{count}"),
        format!("cuda:{}", usize::MAX),
    ] {
        match resolve(&name, Best::Cpu) {
            Ok(facts) => {
                assert!(count > 0 && facts.kind == Kind::Cuda && facts.grid.is_some(), "{facts:?}")
            }
            Err(unknown) => {
                assert!(unknown.name == name && unknown.why.contains("`h200`"), "{unknown:?}")
            }
        }
    }
    assert!(resolve(&format!("cuda:{count}"), Best::Cpu).is_err());
    for wrong in ["cuda:", "cuda:-1", "cuda:1x", "cuda0", "cuda:99999999999999999999999"] {
        assert!(
            resolve(wrong, Best::Cpu).unwrap_err().why.contains("expected `cuda` or `cuda:N`"),
            "{wrong}"
        );
    }
    assert!(count > 0 || resolve("auto", Best::OfAll).unwrap().kind == Kind::Cpu);
}

#[test]
fn asking_twice_gives_the_same_answer() {
    assert_eq!(Gpu::count(), Gpu::count());
    let of_threads: Vec<_> = (0..4).map(|_| std::thread::spawn(Gpu::count)).collect();
    of_threads
        .into_iter()
        .for_each(|thread| assert_eq!(thread.join().expect("no panic"), Gpu::count()));
}
