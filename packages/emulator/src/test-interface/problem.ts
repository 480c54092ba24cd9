/** How a refusal of the interface looks: `application/problem+json`, RFC 9457. */
import { STATUS_CODES } from 'node:http'

export const problemType = 'application/problem+json; charset=utf-8'

/** More that a refusal says: the faults of a request, or what is pending. */
type Extension = Readonly<Record<string, unknown>>

/** A refusal, thrown by what answers a request. */
export class TestInterfaceProblem extends Error {
  readonly status: number
  readonly more: Extension

  constructor(status: number, detail: string, more: Extension = {}) {
    super(detail)
    this.status = status
    this.more = more
  }
}

/** The body of a refusal. */
export const problemBody = (status: number, detail: string, more: Extension = {}) => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
  ...more,
})
