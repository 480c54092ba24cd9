// How an event is held: each member of its JSON object as the text that it came with.
import { memberTexts, sliceTopLevel } from '../../../../../src/support/text/json-text.ts'
import type { JsonObject } from './json-object.ts'

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
