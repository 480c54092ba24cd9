/** What a check has found, also from a failed call of Resource Manager, and several findings as one. */

import { readFailure } from '../../azure/read-failure.ts'
import { codeOfFailure, explainFailure, type FailureContext } from '../../azure/refusals/resource-manager-refusal.ts'
import { BindingError, type ProvisioningErrorCode } from '../../core/errors.ts'
import type { CheckId } from './report.ts'

/** What a check found out. The texts hold no secret; the runner cleans them once more. */
export interface Finding {
  /** `skipped`: the component does not want what the check looks at. */
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped'
  readonly detail: string
  /** What to do; may hold lines to paste. */
  readonly remedy?: string | undefined
  /** The metadata field that the finding is about, where that is a single field. */
  readonly field?: string | undefined
  /** The check that reports the cause. Where that check failed too, this finding is reported as skipped. */
  readonly belongsTo?: CheckId | undefined
}

type More = Pick<Finding, 'remedy' | 'belongsTo' | 'field'>

export const ok = (detail: string): Finding => ({ status: 'ok', detail })
export const warning = (detail: string, more: More = {}): Finding => ({ status: 'warning', detail, ...more })
export const skipped = (detail: string): Finding => ({ status: 'skipped', detail })
export const failed = (detail: string, more: More = {}): Finding => ({ status: 'failed', detail, ...more })

export const failedBy = (error: BindingError): Finding => failed(error.what, { remedy: error.fix })

const byWorst = ['failed', 'warning', 'ok', 'skipped'] as const

/** Joins findings: the worst status, with all texts of what is not well, the worst first; where all is well, with all texts. */
export function joined(findings: readonly Finding[]): Finding {
  const sorted = byWorst.flatMap((status) => findings.filter((one) => one.status === status))
  const status = sorted[0]?.status ?? 'ok'
  const told = sorted.filter((one) => one.status === status || one.status === 'failed' || one.status === 'warning')
  const remedies = new Set(told.flatMap(({ remedy }) => remedy ?? []))
  return {
    status,
    detail: told.map(({ detail }) => detail).join('\n'),
    remedy: remedies.size > 0 ? [...remedies].join('\n') : undefined,
    field: onlyField(told),
    belongsTo: told.find((one) => one.status === status && one.belongsTo !== undefined)?.belongsTo,
  }
}

/** The field that all of these are about. */
export function onlyField(all: readonly { readonly field?: string | undefined }[]): string | undefined {
  const [first, ...others] = new Set(all.map(({ field }) => field))
  return others.length === 0 ? first : undefined
}

const about: Readonly<Partial<Record<ProvisioningErrorCode, CheckId>>> = {
  TIMEOUT: 'azure/provider',
  CREDENTIALS_REJECTED: 'azure/credential',
  PERMISSION_DENIED: 'azure/permission',
  PROVIDER_NOT_REGISTERED: 'azure/provider',
  SCOPE_NOT_FOUND: 'azure/scope',
}

/** Makes a finding of an ARM failure, in the words of `init`. The finding belongs to the check that reports this kind of failure. */
export function armFinding(error: unknown, context: FailureContext): Finding {
  if (error instanceof BindingError) return failedBy(error)
  const failure = readFailure(error, Date.now())
  const { what, fix } = explainFailure(failure, context)
  const belongsTo = failure.kind === 'token' ? 'azure/credential' : about[codeOfFailure(failure)]
  return failed(what, { remedy: fix, belongsTo })
}

/** As {@link armFinding}, but a 403 is a warning: the role that our remedy names cannot read everything. */
export function readFinding(error: unknown, context: FailureContext, what: string, remedy?: string): Finding {
  if (!isForbidden(error)) return armFinding(error, context)
  return warning(`${what} may not be read by this client`, { remedy, belongsTo: 'azure/permission' })
}

export function isForbidden(error: unknown): boolean {
  const failure = readFailure(error, Date.now())
  return failure.status === 403 && codeOfFailure(failure) === 'PERMISSION_DENIED'
}
