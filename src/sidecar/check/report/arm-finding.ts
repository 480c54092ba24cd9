/** A failure of Resource Manager as a finding, and the check that it counts for. */
import { readFailure } from '../../../azure/read-failure.ts'
import {
  explainFailure,
  type FailureContext,
  type Verdict,
  verdictOf,
} from '../../../azure/refusals/resource-manager-refusal.ts'
import { BindingError } from '../../../core/errors.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed, failedBy, warning } from './finding.ts'

const about: Readonly<Partial<Record<Verdict, CheckId>>> = {
  passing: 'azure/provider',
  credentials: 'azure/credential',
  permission: 'azure/permission',
  provider: 'azure/provider',
  scope: 'azure/scope',
}

/** Makes a finding of an ARM failure, in the words of `init`. It belongs to the check that reports this kind of failure. */
export function armFinding(error: unknown, context: FailureContext): Finding {
  if (error instanceof BindingError) return failedBy(error)
  const failure = readFailure(error, Date.now())
  const { what, fix } = explainFailure(failure, context)
  const belongsTo = failure.kind === 'token' ? 'azure/credential' : about[verdictOf(failure)]
  return failed(what, { remedy: fix, belongsTo })
}

/** The same, but a 403 is a warning: the role that our remedy names cannot read everything. */
export function readFinding(error: unknown, context: FailureContext, what: string, remedy?: string): Finding {
  if (!isForbidden(error)) return armFinding(error, context)
  return warning(`${what} may not be read by this client`, { remedy, belongsTo: 'azure/permission' })
}

export function isForbidden(error: unknown): boolean {
  const failure = readFailure(error, Date.now())
  return failure.status === 403 && verdictOf(failure) === 'permission'
}
