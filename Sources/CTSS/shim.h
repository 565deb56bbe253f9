// SPDX-License-Identifier: MIT

#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

/* Sums that Swift does not take over. */
static const TSS2_RC KURA_TPM_AUTH_FAIL = TPM2_RC_AUTH_FAIL;
static const TSS2_RC KURA_TPM_BAD_AUTH = TPM2_RC_BAD_AUTH;
static const TSS2_RC KURA_TPM_INTEGRITY = TPM2_RC_INTEGRITY;
static const TSS2_RC KURA_TPM_LOCKOUT = TPM2_RC_LOCKOUT;
static const TPM2_PT KURA_TPM_PERMANENT = TPM2_PT_PERMANENT;
static const TPM2_PT KURA_TPM_LOCKOUT_COUNTER = TPM2_PT_LOCKOUT_COUNTER;
static const TPM2_PT KURA_TPM_MAX_AUTH_FAIL = TPM2_PT_MAX_AUTH_FAIL;
static const TPM2_PT KURA_TPM_LOCKOUT_INTERVAL = TPM2_PT_LOCKOUT_INTERVAL;
