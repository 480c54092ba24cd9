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

export const ok = (detail: string): Finding => ({ status: 'ok', detail })

type More = Pick<Finding, 'remedy' | 'belongsTo'>

export const warning = (detail: string, more: More = {}): Finding => ({ status: 'warning', detail, ...more })

export const failed = (detail: string, more: More = {}): Finding => ({ status: 'failed', detail, ...more })

const rank = { ok: 0, warning: 1, failed: 2 } as const

/** Joins findings: the worst status, with all texts of that status. */
export function joined(findings: readonly Finding[]): Finding {
  const status = findings.reduce<Finding['status']>(
    (worst, one) => (rank[one.status] > rank[worst] ? one.status : worst),
    'ok',
  )
  const same = findings.filter((one) => one.status === status)
  const remedies = [...new Set(same.flatMap(({ remedy }) => remedy ?? []))]
  const belongsTo = same.find((one) => one.belongsTo !== undefined)?.belongsTo
  return {
    status,
    detail: same.map(({ detail }) => detail).join('\n'),
    ...(remedies.length > 0 && { remedy: remedies.join('\n') }),
    ...(belongsTo && { belongsTo }),
  }
}
