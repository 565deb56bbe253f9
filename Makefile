# SPDX-License-Identifier: MIT
#
# make demo    install what is missing, build, run the main job in a throw-away vault
# make test    install what is missing, build, lint, run every test a change must pass
# make nightly the same at full size, then make fuzz (libFuzzer on what reads what others wrote) and make mutants
# make mutants takes each check out, and says which test noticed (half an hour; ONLY='21 30-40': these)
# make build   the released programs, in .build/release
# make docs    the documentation of the libraries, in .build/docs
# make dist    tarball and Debian packages, in .build/dist: the same bytes from any directory, at any time
# make sbom    what is linked into the programs, in .build/kura.spdx.json (SPDX 2.3)
# make install, make uninstall   below PREFIX; what is built already is not built again, so root needs no compiler
# make bench   speed and size beside pass, KeePassXC, gnome-keyring and age (QUICK=1: three minutes)

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift
SWIFTC := $(shell readlink -f "$$(command -v $(SWIFT))" 2>/dev/null)
TOOLCHAIN ?= $(patsubst %/bin/,%,$(dir $(SWIFTC)))
MACHINE := $(shell uname -m)
# The compiler asks for memory all the time: with another allocator it takes up to a quarter less time.
ALLOCATOR := $(firstword $(wildcard /usr/lib/$(MACHINE)-linux-gnu/libtcmalloc_minimal.so.4))
COMPILE := $(if $(ALLOCATOR),LD_PRELOAD=$(ALLOCATOR)) $(SWIFT) build
EMBEDDED := $(TOOLCHAIN)/lib/swift/embedded/$(MACHINE)-unknown-linux-gnu
OUT := .build/release
PROGRAMS = $(addprefix $(OUT)/,kura kura-agent kura-desktop kura-hardware kura-import kura-sync \
  kura-sync-postgres kura-ui kura-strength)
MAN1 := kura.1 kura-agent.1 kura-desktop.1 kura-import.1 kura-sync.1 kura-ui.1
MAN5 := kura-format.5 kura-json.5 kura-protocol.5 kura-sync-format.5
MAN7 := kura-grants.7 kura-start.7 kura-helpers.7 kura-recipes.7 kura-security.7
# The names under which other programs look for a helper of theirs.
LINKS := git-credential-kura docker-credential-kura cargo-credential-kura terraform-credentials-kura kura-askpass \
  kura-pass
# Programs that may be there themselves: each in a directory of its own, to stand in the PATH of what shall find it.
FRONTS := pass keyring
COMMANDS := kura kura-agent kura-desktop kura-import kura-sync kura-ui
UNIT := kura-agent.socket kura-agent.service kura-desktop.service kura-sync.service
BIN := $(DESTDIR)$(PREFIX)/bin
HELPERS := $(DESTDIR)$(PREFIX)/libexec/kura
MAN := $(DESTDIR)$(PREFIX)/share/man/man
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/user
AUTOSTART := $(DESTDIR)$(PREFIX)/share/kura
COMPLETIONS := $(addprefix $(DESTDIR)$(PREFIX)/share/,bash-completion/completions/kura zsh/site-functions/_kura \
  fish/vendor_completions.d/kura.fish)

# No build id: nobody keeps the symbols that one would be found by.
STRIP := -Xlinker -s -Xlinker --build-id=none
STATIC_PIE := -Xswiftc -use-ld=lld -Xswiftc -Xclang-linker -Xswiftc -static-pie \
  -Xlinker -z -Xlinker now $(STRIP)
COMMON := -c release --disable-local-rpath --explicit-target-dependency-import-check error -Xswiftc -gnone
# By sixteen bytes in each object file the compiler knows whether to make it anew. They stay in the programs, and now and
# then others stand there for the same code.
ifdef KURA_DIST
COMMON += -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
endif

# KURA_SHARED=1 links the distribution's shared libraries instead (for packagers).
ifdef KURA_SHARED
ENGINE := $(COMMON) --static-swift-stdlib -Xlinker -z -Xlinker now $(STRIP)
STRENGTH := $(ENGINE)
else
# By the sources: what a file left that is gone or has another name now stays in the build directory.
DESKTOP = kura_desktop.build/Desktop.swift.o $(foreach module,KuraDesktop KuraClient KuraHardware KuraProtocol KuraTerms SecureMemory \
  CKuraSystem,$(patsubst %,$(module).build/%.o,$(notdir $(sort $(shell find Sources/$(module) -name '*.swift' -o -name '*.c')))))
POSTGRES = kura_sync_postgres.build/Postgres.swift.o $(foreach module,KuraPostgres KuraStore KuraTerms,$(patsubst %,$(module).build/%.o,$(notdir \
  $(sort $(wildcard Sources/$(module)/*.swift)))))
HARDWARE = kura_hardware.build/Hardware.swift.o $(foreach module,KuraFIDO KuraTPM KuraHardware KuraTerms SecureMemory CKuraSystem,$(patsubst \
  %,$(module).build/%.o,$(notdir $(sort $(wildcard Sources/$(module)/*.swift Sources/$(module)/*.c)))))
ENGINE := $(COMMON) -Xswiftc -static-executable $(STATIC_PIE)
# Debian's libzxcvbn.a is no position-independent code.
STRENGTH := $(COMMON) -Xswiftc -static-executable -Xswiftc -use-ld=lld -Xlinker -z -Xlinker now $(STRIP)
endif

# The client starts with every command, so it links musl: glibc's start-up asks the processor about
# its caches, and each such CPUID leaves a virtual machine (0.4 ms a process, measured).
MUSL := /usr/lib/$(MACHINE)-linux-musl
ifneq ($(wildcard $(MUSL)/rcrt1.o),)
# Its start leaves the relocated tables writable, so that to set them apart (RELRO) costs pages and protects nothing.
# Swift asks for -pie, too, which beside -static-pie and -nostdlib does nothing, and clang would say so.
LIBC := -Xcc -isystem -Xcc /usr/include/$(MACHINE)-linux-musl -Xswiftc -Xclang-linker -Xswiftc -nostdlib \
  -Xswiftc -Xclang-linker -Xswiftc -Wno-unused-command-line-argument -Xlinker $(MUSL)/rcrt1.o -Xlinker $(MUSL)/libc.a \
  -Xlinker -z -Xlinker norelro
else
LIBC := -Xlinker -lm
endif

# A section a function, and those together that a start runs: a third fewer pages to map. `make startup` lists them.
STARTUP := Benchmarks/startup.txt
SECTIONS := -Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections -Xlinker --gc-sections \
  -Xlinker --symbol-ordering-file=$(CURDIR)/$(STARTUP) -Xlinker --no-warn-symbol-ordering

# A short command's memory is in the program (heap.c), and the pages that it writes are mapped in one call (entry.c).
HEAP := -Xcc -DKURA_FIRST_HEAP -Xlinker --wrap=posix_memalign -Xlinker --wrap=free
ifeq ($(MACHINE),x86_64)
HEAP += -Xlinker --entry=kura_entry
endif

# Without an Embedded standard library the ordinary build of the client is the fallback.
ifneq ($(wildcard $(EMBEDDED)/libswiftUnicodeDataTables.a),)
CLIENT_ENV := KURA_EMBEDDED=1
CLIENT := $(COMMON) $(STATIC_PIE) $(SECTIONS) $(HEAP) -Xlinker $(EMBEDDED)/libswiftUnicodeDataTables.a $(LIBC)
else
CLIENT_ENV :=
CLIENT := $(ENGINE)
endif

.PHONY: all packages build programs engine desktop postgres hardware strength client startup tests debug demo docs test nightly fuzz mutants bench \
  lint dist sbom install install-units uninstall clean

all: build

packages:
	@.ci/packages build

# A second make: what this one found missing may have been installed meanwhile.
build: packages
	@$(MAKE) --no-print-directory programs

programs: engine desktop postgres hardware strength client
	@mkdir -p $(OUT)
	@install -m 755 $(addprefix .build/engine/release/kura-,agent desktop hardware import sync sync-postgres ui) \
	  .build/strength/release/kura-strength .build/embedded/release/kura $(OUT)

# A scratch path each, so that make -j builds them side by side.
engine:
	@$(COMPILE) $(ENGINE) --product kura-agent --scratch-path .build/engine
	@$(COMPILE) $(ENGINE) --product kura-ui --scratch-path .build/engine
	@$(COMPILE) $(ENGINE) --product kura-import --scratch-path .build/engine
	@$(COMPILE) $(ENGINE) --product kura-sync --scratch-path .build/engine

# Of sd-bus there is no static library: compiled with what it shares with the agent, linked with the
# distribution's libraries.
desktop: engine
ifdef KURA_SHARED
	@$(COMPILE) $(ENGINE) --product kura-desktop --scratch-path .build/engine
else
	@$(COMPILE) $(ENGINE) --target kura-desktop --scratch-path .build/engine
	@cd .build/engine/release && $(TOOLCHAIN)/bin/swiftc -static-stdlib -use-ld=lld -o kura-desktop \
	  $(DESKTOP) -lsystemd $(foreach flag,-z now -s --build-id=none --gc-sections --defsym=main=kura_desktop_main,-Xlinker $(flag))
endif

# Nor of libpq one that does without those of its own that have none.
postgres: desktop
ifdef KURA_SHARED
	@$(COMPILE) $(ENGINE) --product kura-sync-postgres --scratch-path .build/engine
else
	@$(COMPILE) $(ENGINE) --target kura-sync-postgres --scratch-path .build/engine
	@cd .build/engine/release && $(TOOLCHAIN)/bin/swiftc -static-stdlib -use-ld=lld -o kura-sync-postgres \
	  $(POSTGRES) -lpq $(foreach flag,-z now -s --build-id=none --gc-sections --defsym=main=kura_sync_postgres_main,-Xlinker $(flag))
endif

# Of libtss2 and libfido2, too, there are shared libraries alone: the former loads what reaches a TPM when it runs.
hardware: postgres
ifdef KURA_SHARED
	@$(COMPILE) $(ENGINE) --product kura-hardware --scratch-path .build/engine
else
	@$(COMPILE) $(ENGINE) --target kura-hardware --scratch-path .build/engine
	@cd .build/engine/release && $(TOOLCHAIN)/bin/swiftc -static-stdlib -use-ld=lld -o kura-hardware \
	  $(HARDWARE) $(addprefix -ltss2-,esys mu tctildr) -lfido2 \
	  $(foreach flag,-z now -s --build-id=none --gc-sections --defsym=main=kura_hardware_main,-Xlinker $(flag))
endif

strength:
	@$(COMPILE) $(STRENGTH) --product kura-strength --scratch-path .build/strength

# What is linked in is told to the compiler, so that `kura --version --json` has it ready.
client:
	@$(CLIENT_ENV) $(COMPILE) $(CLIENT) $(if $(KURA_SHARED),,-Xcc -DKURA_LINKED=$$(packaging/linked versions)) --product kura --scratch-path .build/embedded

startup: build
	@.ci/packages bench
	@$(MAKE) --no-print-directory client STRIP='-Xlinker --strip-debug'
	@python3 Benchmarks/startup.py .build/embedded/release/kura $(OUT)/kura-agent $(STARTUP)

demo: build
	@Fixtures/scripts/demo.sh $(OUT)

# The tests and what they test, unoptimized and with all its checks (at night optimized, as it is released), but a module at a
# time and without debug information, which takes a quarter less than a debug build's batches of files; in a directory of
# their own. A module's interface comes with its code: made apart, it is checked twice, a sixth of what a module of tests costs.
tests:
	@$(COMPILE) -c release --scratch-path .build/tests --build-tests --explicit-target-dependency-import-check error \
	  $(if $(KURA_NIGHTLY),,-Xswiftc -Onone) -Xswiftc -enable-testing -Xswiftc -gnone -Xswiftc -no-emit-module-separately-wmo

debug: packages
	@$(COMPILE) --build-tests --explicit-target-dependency-import-check error

# Of the modules that the two libraries are made of, and nothing else.
docs: packages
	@$(COMPILE) --target KuraVault
	@$(COMPILE) --target KuraClient
	@.ci/docs .build/debug .build/docs

lint:
	@.ci/packages lint
	@.ci/lint

test:
	@.ci/packages build lint
	@.ci/test

nightly: packages
	@.ci/packages test dist nightly
	@KURA_NIGHTLY=1 .ci/test
	@packaging/nightly
	@Tests/programs/pass-suite $(OUT)
	@Tests/programs/secretspec $(OUT)
	@Tests/programs/keyring $(OUT)
	@Tests/programs/importers $(OUT)
	@Tests/programs/mcp $(OUT)
	@Tests/programs/stores $(OUT)
	@.ci/fuzz
	@.ci/mutants

fuzz: packages
	@.ci/fuzz

mutants: packages
	@.ci/packages test
	@.ci/mutants $(ONLY)

bench: build
	@.ci/packages bench
	@Benchmarks/run $(OUT) .build/bench

# In a directory of its own: what is built at another place is built anew.
dist: packages
	@.ci/packages dist
	@packaging/build .build/dist/build
	@packaging/pack .build/dist/build/release .build/dist
	@cat .build/dist/SHA256SUMS

sbom: $(if $(filter-out $(wildcard $(PROGRAMS)),$(PROGRAMS)),build)
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(packaging/version --date)} packaging/linked sbom $(OUT) > .build/kura.spdx.json
	@echo .build/kura.spdx.json

install: $(if $(filter-out $(wildcard $(PROGRAMS)),$(PROGRAMS)),build) install-units
	install -d $(BIN) $(HELPERS) $(addprefix $(MAN),1 5 7) $(dir $(COMPLETIONS))
	install -m 755 $(addprefix $(OUT)/,$(COMMANDS)) $(BIN)
	for link in $(LINKS); do ln -sf kura $(BIN)/$$link; done
	install -m 755 $(addprefix $(OUT)/kura-,hardware strength sync-postgres) $(HELPERS)
	install -d $(addprefix $(HELPERS)/,$(FRONTS))
	for front in $(FRONTS); do ln -sf ../../../bin/kura $(HELPERS)/$$front/$$front; done
	install -m 644 python/kura_keyring.py $(HELPERS)/keyring
	install -m 644 $(addprefix man/,$(MAN1)) $(MAN)1
	install -m 644 $(addprefix man/,$(MAN5)) $(MAN)5
	install -m 644 $(addprefix man/,$(MAN7)) $(MAN)7
	for link in $(LINKS); do echo .so man7/kura-helpers.7 > $(MAN)1/$$link.1; done
# What the shells ask at each Tab comes from the program.
	$(OUT)/kura completion bash > $(word 1,$(COMPLETIONS))
	$(OUT)/kura completion zsh > $(word 2,$(COMPLETIONS))
	$(OUT)/kura completion fish > $(word 3,$(COMPLETIONS))

# The units name the programs by their places, and so does what a session without systemd starts.
install-units:
	install -d $(UNITS) $(AUTOSTART)
	install -m 644 $(addprefix systemd/,$(UNIT)) $(UNITS)
	install -m 644 systemd/kura-desktop.desktop $(AUTOSTART)
	sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|' $(addprefix $(UNITS)/,$(filter %.service,$(UNIT))) \
	  $(AUTOSTART)/kura-desktop.desktop

# Nothing but what was installed: vaults are the users' own.
uninstall:
	rm -f $(addprefix $(BIN)/,$(COMMANDS) $(LINKS)) $(addprefix $(HELPERS)/kura-,hardware strength sync-postgres) $(COMPLETIONS)
	rm -f $(addprefix $(MAN)1/,$(MAN1) $(addsuffix .1,$(LINKS))) $(addprefix $(MAN)5/,$(MAN5)) $(addprefix $(MAN)7/,$(MAN7))
	rm -f $(addprefix $(UNITS)/,$(UNIT)) $(AUTOSTART)/kura-desktop.desktop
	rm -f $(HELPERS)/keyring/kura_keyring.py
	for front in $(FRONTS); do rm -f $(HELPERS)/$$front/$$front; rmdir $(HELPERS)/$$front 2>/dev/null; done || true
	rmdir $(HELPERS) $(AUTOSTART) 2>/dev/null || true

clean:
	rm -rf .build
