-- note: no code, where each slot of a TPM takes one
-- expect: slot/no-such-slot
-- tpm-code-hex: none
-- base: good-slots-hardware
-- tpm-kept-hex: 61a4ace90d254f87b6bc4d4290b4273fcb4d8567c7ba55455aa5680705199b34
DELETE FROM slot WHERE number = 2;
