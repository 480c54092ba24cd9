/** An emulator, and its interface as a program of any language calls it. Each answer is checked against the OpenAPI document. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator, EventGridEmulatorOptions } from '../../src/index.ts'

interface Described {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } }
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: object }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>>
}

export interface OpenApi {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // What the interface answers is what the test is about: it says itself what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

export interface Interface {
  readonly emulator: EventGridEmulator
  readonly document: OpenApi
  /** Calls it with a JSON body, if there is one. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
}

const pathOf = (document: OpenApi, path: string) => {
  const [plain = ''] = path.split('?')
  return Object.keys(document.paths).find((one) => new RegExp(`^${one.replace(/\{\w+\}/, '[^/]+')}$`).test(plain))
}

/** Checks an answer against the document. The references of a schema are those of the document. */
export function checkAnswer(document: OpenApi, method: string, path: string, answer: Answer): void {
  const described = document.paths[pathOf(document, path) ?? '']?.[method.toLowerCase()]
  if (!described) return
  const response = described.responses[answer.status]
  expect(Object.keys(described.responses), `${method} ${path}`).toContain(String(answer.status))
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
  const schema = response?.content?.[type]?.schema
  if (!response?.content) {
    expect(answer.body).toBeUndefined()
    return
  }
  expect(schema, `${method} ${path} ${answer.status} ${type}`).toBeDefined()
  const ajv = new Ajv2020({ strict: false })
  const check = ajv.compile({ ...schema, components: document.components })
  expect(check(answer.body) ? [] : check.errors, `${method} ${path}`).toEqual([])
}

/** Calls an interface without a look at its document. */
export async function callAt(base: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(new URL(path, base), {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

export async function openInterface(options: EventGridEmulatorOptions = {}): Promise<Interface> {
  const emulator = await startEmulator(options)
  const { body: document } = await callAt(emulator.proxy, 'GET', '/emulator/openapi.json')
  return {
    emulator,
    document,
    async call(method, path, body) {
      const answer = await callAt(emulator.proxy, method, path, body)
      checkAnswer(document, method, path, answer)
      return answer
    },
  }
}

/** CloudEvents with these ids, of the type `order.placed`. */
export const orders = (...ids: readonly string[]) =>
  ids.map((id) => ({
    specversion: '1.0',
    id,
    source: '/shop',
    type: 'order.placed',
    subject: `orders/${id}`,
    data: { id },
  }))

interface NamespaceAnswer {
  readonly value: readonly {
    readonly event: { readonly id: string }
    readonly brokerProperties: { readonly lockToken: string }
  }[]
  readonly failedLockTokens: readonly unknown[]
}

/** Calls the data plane of a namespace, over http. */
export const callNamespace =
  ({ endpoints, proxy }: EventGridEmulator, key: string) =>
  async (url: string, body: unknown = {}): Promise<NamespaceAnswer> => {
    const answer = await fetch(`${url.replace(endpoints.topics, proxy)}?api-version=2024-06-01`, {
      method: 'POST',
      headers: { authorization: `SharedAccessKey ${key}`, 'content-type': 'application/cloudevents+json' },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as NamespaceAnswer
  }
