import { BindingError, whatIsWrong } from '../core/errors.ts'
import { NoTokenError } from '../core/no-token.ts'
import { readFailure } from '../subscription/arm-failure.ts'
import { explainFailure, type FailureContext } from '../subscription/explain-failure.ts'
import { judgeFailure, type Verdict } from '../subscription/judge-failure.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed, warning } from './finding.ts'

/** The check that is about each kind of failure. */
const about: Readonly<Record<Verdict, CheckId | undefined>> = {
  passing: 'azure/provider',
  handshake: undefined,
  credentials: 'azure/credential',
  permission: 'azure/permission',
  provider: 'azure/provider',
  scope: 'azure/scope',
  rejected: undefined,
}

/** A failure of an ARM call in the words of `init`, as the finding of a check; it belongs to the check that is about it. */
export function armFinding(error: unknown, id: CheckId, context: FailureContext): Finding {
  if (error instanceof BindingError) return failed(whatIsWrong(error), { remedy: error.fix })
  const failure = readFailure(error, Date.now())
  const verdict = judgeFailure(failure)
  const { what, fix } = explainFailure(failure, context)
  const belongsTo = error instanceof NoTokenError ? 'azure/credential' : about[verdict]
  return failed(what, { remedy: fix, ...(belongsTo !== undefined && belongsTo !== id && { belongsTo }) })
}

/** The same for what only looks: the role that our remedy names may not read everything. */
export function readFinding(error: unknown, id: CheckId, context: FailureContext, what: string): Finding {
  if (!isForbidden(error)) return armFinding(error, id, context)
  return warning(`${what} may not be read by this client`, { belongsTo: 'azure/permission' })
}

/** Did ARM refuse a call for want of a role? */
export function isForbidden(error: unknown): boolean {
  const failure = readFailure(error, Date.now())
  return failure.status === 403 && judgeFailure(failure) === 'permission'
}
