/** A failure of Resource Manager as a finding, and the check that it counts for. */
import { readFailure } from '../../../azure/read-failure.ts'
import { explainFailure, type FailureContext, meaningOf } from '../../../azure/refusals/resource-manager-refusal.ts'
import { BindingError, type ProvisioningErrorCode } from '../../../core/errors.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed, failedBy, warning } from './finding.ts'

const about: Readonly<Partial<Record<ProvisioningErrorCode, CheckId>>> = {
  TIMEOUT: 'azure/provider',
  CREDENTIALS_REJECTED: 'azure/credential',
  PERMISSION_DENIED: 'azure/permission',
  PROVIDER_NOT_REGISTERED: 'azure/provider',
  SCOPE_NOT_FOUND: 'azure/scope',
}

/** Makes a finding of an ARM failure, in the words of `init`. It belongs to the check that reports this kind of failure. */
export function armFinding(error: unknown, context: FailureContext): Finding {
  if (error instanceof BindingError) return failedBy(error)
  const failure = readFailure(error, Date.now())
  const { what, fix } = explainFailure(failure, context)
  const belongsTo = failure.kind === 'token' ? 'azure/credential' : about[meaningOf(failure)]
  return failed(what, { remedy: fix, belongsTo })
}

/** The same, but a 403 is a warning: the role that our remedy names cannot read everything. */
export function readFinding(error: unknown, context: FailureContext, what: string, remedy?: string): Finding {
  if (!isForbidden(error)) return armFinding(error, context)
  return warning(`${what} may not be read by this client`, { remedy, belongsTo: 'azure/permission' })
}

export function isForbidden(error: unknown): boolean {
  const failure = readFailure(error, Date.now())
  return failure.status === 403 && meaningOf(failure) === 'PERMISSION_DENIED'
}
