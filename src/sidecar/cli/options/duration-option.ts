/** An option that is a duration, such as `--wait 2m`, is read in ms. */
import { BrokenRule } from '../../../metadata/fields/faults.ts'
import { parseDuration } from '../../../metadata/fields/rules.ts'
import { wrongOption } from '../../../support/command-line/options.ts'

/** The duration of an option, of 1 s to 24 h; `undefined` where it is not given. Throws a UsageError. */
export function readDuration(option: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  try {
    return parseDuration(value, { atLeast: '1s', atMost: '24h' })
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
    throw wrongOption(`--${option} ${error.rule}, like 2m, not ${JSON.stringify(value)}`)
  }
}
