import { type IngressRule, isIngressUrl } from '../emulator/delivery/ingress.ts'
import { UsageError } from './usage-error.ts'

/** The rules of `--ingress FROM=TO`, two URLs each. Throws a UsageError that shows what one looks like. */
export function readIngress(values: readonly string[]): IngressRule[] {
  return values.map((value) => {
    const [, from = '', to = ''] = /^([^=]*)=(.*)$/.exec(value) ?? []
    if (isIngressUrl(from) && isIngressUrl(to)) return { from, to }
    const form = 'https://orders.example.com/=http://127.0.0.1:9000/'
    throw new UsageError(`--ingress takes two URLs, like ${form}, not ${JSON.stringify(value)}`, { showHelp: true })
  })
}
