/** The exchanges of a probe as a file: the form that the emulator's test of recordings reads. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlayedRecording } from '../../../packages/emulator/test/recorded/play-recording.ts'
import { readJson } from '../../../src/support/text/json-text.ts'
import type { Exchange, WireRequest } from '../wire/wire.ts'
import type { Scrubber } from './scrubber.ts'

/** Headers of requests that say something about the claim, and hold no secret. */
const isSent = (name: string) => name === 'content-type' || name.startsWith('ce-')

/** Headers of answers that facts are about. */
const isSeen = (name: string) =>
  /^(content-type|retry-after|location|azure-asyncoperation|api-supported-versions|broker-errorcode)$/.test(name)
const isCounter = (name: string) => name.startsWith('x-ms-ratelimit-remaining-')

/** Longest text of a body that is kept. */
const maxText = 20_000

/** In their order. Of questions how an operation goes the last is kept. A credential that is not the usual one can't be sent again. */
export function recordedExchanges(exchanges: readonly Exchange[], scrubber: Scrubber): PlayedRecording['exchanges'] {
  const kept = exchanges.filter(({ request }, at) => !(request.polls && exchanges[at + 1]?.request.polls))
  return kept.map(({ request, answer }) => {
    const { asked, of, method, headers = {}, body, polls, otherCredential } = request
    const named = (from: Readonly<Record<string, string>>, keep: (name: string) => boolean) =>
      Object.fromEntries(
        Object.entries(from)
          .filter(([name, value]) => keep(name.toLowerCase()) && value !== '')
          .map(([name, value]) => [name.toLowerCase(), shownHeader(name, value)]),
      )
    const shownHeader = (name: string, value: string) => {
      if (isCounter(name.toLowerCase())) return '{number}'
      return /^(location|azure-asyncoperation)$/i.test(name) ? scrubber.link(value) : scrubber.text(value)
    }
    const sent = named(headers, isSent)
    return {
      asked,
      ...(of !== undefined && { of: scrubber.text(of) }),
      method,
      path: scrubber.text(pathOf(request)),
      ...(Object.keys(sent).length > 0 && { headers: sent }),
      ...(body !== undefined && { body: scrubber.value(bodyOf(body)) }),
      ...(otherCredential && { credential: 'other' as const }),
      ...(polls && { polls }),
      status: answer.status,
      answerHeaders: named(answer.headers, (name) => isSeen(name) || isCounter(name)),
      ...(answer.body !== '' && { answer: scrubber.value(bodyOf(answer.body)) }),
    }
  })
}

/** An emulator has the name, which stands in the host of Azure, at the beginning of the path. */
function pathOf({ url, of }: WireRequest): string {
  const { pathname, search } = new URL(url)
  const path = of === undefined ? pathname : pathname.replace(new RegExp(`^/(?:topics|namespaces)/${of}(?=/)`), '')
  return `${path}${search}`
}

function bodyOf(body: unknown): unknown {
  if (body instanceof Uint8Array) return `(${body.length} bytes)`
  if (typeof body !== 'string') return body
  return body.length > maxText ? `(${body.length} characters)` : (readJson(body) ?? body)
}

/** Writes one file for a probe into a folder, which is made where it is not there. */
export function writeRecording(folder: string, recording: PlayedRecording): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, fileNameOf(recording)), `${JSON.stringify(recording, null, 2)}\n`)
}

const fileNameOf = ({ fact, asks }: Pick<PlayedRecording, 'fact' | 'asks'>): string => {
  const words = asks.toLowerCase().replace(/[^a-z\d]+/g, '-')
  return `${fact}--${words.slice(0, 60).replace(/-$/, '')}.json`
}
