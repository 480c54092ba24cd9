// What a request says of its caller: the scheme and the credential of its `Authorization` header.
import type { IncomingHttpHeaders } from 'node:http'

export interface Authorization {
  /** In lower case: `bearer`, `basic`, `sharedaccesskey` and so on. */
  readonly scheme: string
  /** What follows the scheme; empty where nothing does. */
  readonly credential: string
}

/** Reads the header; undefined where it is missing or empty. */
export function readAuthorization({ authorization = '' }: IncomingHttpHeaders): Authorization | undefined {
  const [, scheme, credential = ''] = /^\s*(\S+)\s*(.*)$/s.exec(authorization) ?? []
  return scheme === undefined ? undefined : { scheme: scheme.toLowerCase(), credential: credential.trim() }
}
