# SPDX-License-Identifier: Apache-2.0
# Thin front of CMake: `make run` and `make test` work on a fresh Debian 12 machine with nothing else typed.
DEVICE   ?= mqsim-table3
WORKLOAD ?= configs/workload/random_mix.fio
OUT      ?= results/$(basename $(notdir $(WORKLOAD)))
JOBS     ?= $(shell nproc)
# For CMake. Several files of a library compiled as one are quicker from nothing, and slower after a change.
CONFIGURE ?= -DSSDTLM_UNITY=ON

.PHONY: run test test-asan test-nightly guest bench wave build python wheel deb deps test-deps clean

run: build
	build/release/ssdtlm run $(DEVICE) --workload $(WORKLOAD) -o $(OUT)

test: test-deps python
	cmake --preset release $(CONFIGURE) >/dev/null
	cmake --build --preset release -j $(JOBS)
	tools/run-tests.sh build/release -LE nightly

test-asan: test-deps
	cmake --preset asan $(CONFIGURE) >/dev/null
	cmake --build --preset asan -j $(JOBS)
	tools/run-tests.sh build/asan -LE 'nightly|no-asan'

# The long ones: full-size write amplification, full closed-network table, byte-identity across compilers.
test-nightly: test-deps wheel deb python
	@tools/install-deps.sh tools/debian-packages-slurm.txt tools/debian-packages-chroot.txt tools/debian-packages-callgrind.txt
	cmake --preset release $(CONFIGURE) >/dev/null
	cmake --build --preset release -j $(JOBS)
	tools/run-tests.sh build/release -L nightly

# A real Linux in QEMU drives the drive. Gets QEMU, kernel and tools into the build tree; says so where that cannot be.
guest: build
	tools/guest.sh get build/guest || [ $$? -eq 77 ]
	cd tb/system && SSDTLM=$(CURDIR)/build/release/ssdtlm SSDTLM_SOURCE=$(CURDIR) SSDTLM_GUEST=$(CURDIR)/build/guest \
	    python3 -B -m unittest -v test_guest

bench: test-deps
	cmake --preset release $(CONFIGURE) >/dev/null
	cmake --build --preset release -j $(JOBS) --target ssdtlm_bench
	build/release/tb/bench/ssdtlm_bench

# Records a host read that overtakes garbage collection and takes the README's picture of it.
wave: build
	@tools/install-deps.sh tools/debian-packages-wave.txt
	tools/wave-picture.sh build/release/ssdtlm results/wave docs/images/wave.png

# The tests and their packages wait until somebody asks for them: the preset turns them on again.
build: deps
	cmake --preset release $(CONFIGURE) -DSSDTLM_BUILD_TESTS=OFF >/dev/null
	cmake --build --preset release -j $(JOBS) --target ssdtlm

# Packages: build/packages/ssdtlm-*.whl for pip, ssdtlm_*.deb for Debian 12.
wheel: deps
	tools/build-wheel.sh build/packages

deb: build
	@tools/install-deps.sh tools/debian-packages-deb.txt
	cpack --config build/release/CPackConfig.cmake -B build/packages

# What `ssdtlm report` needs, into an environment where the programs of this tree look for it.
python: deps
	@tools/install-python.sh build/python

deps:
	@tools/install-deps.sh

test-deps:
	@tools/install-deps.sh tools/debian-packages-test.txt

clean:
	rm -rf build results
