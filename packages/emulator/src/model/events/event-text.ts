/** How an event is held: each member of the JSON object as the text that came, and which members are found in it. */
import { messageOf } from '../../../../../src/support/process/error-code.ts'
import {
  isRecord,
  memberTexts,
  nestsDeeper,
  sliceTopLevel,
  type UnknownRecord,
} from '../../../../../src/support/text/json-text.ts'

/** A JSON object whose members keep their text: a parser would change numbers such as 9007199254740993, 1.10 and 1E400. */
export interface EventText {
  /** Parsed, for checks and filters. Its numbers may have lost digits. */
  readonly value: JsonObject
  /** The JSON text of each member, by name, in their order. */
  readonly members: ReadonlyMap<string, string>
  /** Whether a namespace topic took it in binary mode: its dead letter has another form. Not kept in a state file. */
  readonly isBinary?: true
}

/** The event that a JSON text is. @param value the same, parsed */
export const eventText = (json: Buffer | string, value: JsonObject): EventText => ({
  value,
  members: memberTexts(json),
})

/** The bytes of a JSON object, or of each item of an array. `count`: how many there are. */
export function eventSlices(body: Buffer, count: number): Buffer[] {
  const found = sliceTopLevel(body, count)
  return 'slices' in found ? found.slices.map(({ start, end }) => body.subarray(start, end)) : []
}

/** The event of a value that was not published as text. */
export const eventOf = (value: JsonObject): EventText => withMembers({ value: {}, members: new Map() }, value)

/** An event with these members added, or in the place of its own. One that is undefined is left out. */
export function withMembers({ value, members, ...mode }: EventText, added: JsonObject): EventText {
  const given = Object.entries(added).filter(([, one]) => one !== undefined)
  const texts = given.map(([name, one]) => [name, JSON.stringify(one)] as const)
  return { ...mode, value: { ...value, ...Object.fromEntries(given) }, members: new Map([...members, ...texts]) }
}

/** An event with one more member, whose value is a JSON text. */
export function withText({ value, members }: EventText, name: string, json: string): EventText {
  return { value: { ...value, [name]: JSON.parse(json) }, members: new Map([...members, [name, json]]) }
}

/**
 * A JSON text, written anew: no spaces, and the members of each object in the order of their names. Numbers keep their digits. The text
 * is JSON that does not nest too deeply.
 */
export function sortedText(json: string): string {
  const token = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}[\],:"]+)/gy
  const next = () => token.exec(json)?.[1] ?? ''
  const plain = (text: string) => (text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text)
  const value = (first: string): string => {
    if (first !== '{' && first !== '[') return plain(first)
    const items: { readonly name: string; readonly text: string }[] = []
    const end = first === '{' ? '}' : ']'
    for (let at = next(); at !== end && at !== ''; at = next()) {
      if (at === ',') continue
      if (first === '[') items.push({ name: '', text: value(at) })
      else {
        next()
        items.push({ name: String(JSON.parse(at)), text: `${plain(at)}:${value(next())}` })
      }
    }
    // Of two members of one name the last one counts, as in the parsed value.
    const kept = first === '[' ? items : [...new Map(items.map((item) => [item.name, item])).values()]
    const sorted = first === '[' ? kept : kept.toSorted((one, other) => (one.name < other.name ? -1 : 1))
    return `${first}${sorted.map(({ text }) => text).join(',')}${end}`
  }
  return value(next())
}

/** Members of an event under other names. @param names the old name of each; those that it lacks are left out */
export function renamed({ value, members }: EventText, names: Readonly<Record<string, string>>): EventText {
  const present = Object.entries(names).flatMap(([name, old]) => {
    const text = members.get(old)
    return text === undefined ? [] : [{ name, text, value: value[old] }]
  })
  return {
    value: Object.fromEntries(present.map((one) => [one.name, one.value])),
    members: new Map(present.map((one) => [one.name, one.text])),
  }
}

/** The event as JSON. */
export function textOf({ members }: EventText): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

/**
 * The text, number or boolean at a path, as text: a number has the digits that it came with. Undefined for other values, and where
 * nothing stands there.
 */
export function plainTextAt({ members }: EventText, path: readonly string[]): string | undefined {
  const [last, ...above] = path.toReversed()
  const holder = above.reduceRight<ReadonlyMap<string, string>>((at, name) => memberTexts(at.get(name) ?? ''), members)
  const text = holder.get(last ?? '')
  if (text === undefined || /^[[{n]/.test(text)) return undefined
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}

/**
 * A parsed JSON object. The sender chooses its keys, `__proto__` included: read own properties only.
 */
export type JsonObject = UnknownRecord

/** JSON can be written again up to a depth of some 4,000 levels. An event that can't be written could not be delivered. */
const maxDepth = 2_000

/** Whether a body holds JSON that could not be written again. */
export const nestsTooDeeply = (body: Buffer): boolean => nestsDeeper(body, maxDepth)

/** What is said of such a body. */
export const tooDeep = `nests deeper than ${maxDepth.toLocaleString('en-US')} levels`

/** The JSON text of a value that was not sent as text. Throws a TypeError for one that has none, or that nests too deeply. */
export function jsonTextOf(value: unknown, name: string): string {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (error) {
    // Of a value that nests very deeply Node says that its stack is too small.
    throw new TypeError(error instanceof RangeError ? `${name} ${tooDeep}` : `${name} is no JSON: ${messageOf(error)}`)
  }
  if (nestsTooDeeply(Buffer.from(text ?? ''))) throw new TypeError(`${name} ${tooDeep}`)
  return text
}

/** An own property of a JSON value; undefined if it has no such property. */
export function ownField(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/**
 * Walks dots inward: `['data', 'key1']`. A name that holds a dot itself can't be reached (Event Grid: event-filtering).
 */
export function fieldAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce(ownField, value)
}

/**
 * The way to what a filter's key names, as the event spells it. Letter case does not count; of two names that differ in case only, the
 * one that is spelled as in the key goes first.
 */
export function spelledPath(value: unknown, path: readonly string[]): readonly string[] {
  const spelled: string[] = []
  let holder = value
  for (const part of path) {
    const names = isRecord(holder) ? Object.keys(holder) : []
    const like = names.includes(part) ? part : names.find((name) => name.toLowerCase() === part.toLowerCase())
    spelled.push(like ?? part)
    holder = ownField(holder, like ?? part)
  }
  return spelled
}
