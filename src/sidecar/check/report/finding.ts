// Check result ok, warning or failed; several joined to the worst one.
import type { BindingError } from '../../../core/errors.ts'
import type { CheckId } from './check-ids.ts'

/** What a check found out. Texts hold no secret; the runner cleans them once more. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'failed'
  readonly detail: string
  /** What to do about it; may hold lines to paste. */
  readonly remedy?: string | undefined
  /** The check that reports the cause. If that one failed too, this one is reported as skipped. */
  readonly belongsTo?: CheckId | undefined
}

type More = Pick<Finding, 'remedy' | 'belongsTo'>

export const ok = (detail: string): Finding => ({ status: 'ok', detail })
export const warning = (detail: string, more: More = {}): Finding => ({ status: 'warning', detail, ...more })
export const failed = (detail: string, more: More = {}): Finding => ({ status: 'failed', detail, ...more })

/** The failure that an error of the binding describes. */
export const failedBy = (error: BindingError): Finding => failed(error.what, { remedy: error.fix })

/** Joins findings: the worst status, with all texts of that status. */
export function joined(findings: readonly Finding[]): Finding {
  const status = (['failed', 'warning'] as const).find((bad) => findings.some((one) => one.status === bad)) ?? 'ok'
  const same = findings.filter((one) => one.status === status)
  const remedies = new Set(same.flatMap(({ remedy }) => remedy ?? []))
  return {
    status,
    detail: same.map(({ detail }) => detail).join('\n'),
    remedy: remedies.size > 0 ? [...remedies].join('\n') : undefined,
    belongsTo: same.find((one) => one.belongsTo !== undefined)?.belongsTo,
  }
}
