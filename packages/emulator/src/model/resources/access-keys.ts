// Access keys: a pair; new ones are 32 random bytes each, in base64.
import { randomBytes } from 'node:crypto'

export type AccessKeys = readonly [string, string]

export const randomKey = (): string => randomBytes(32).toString('base64')

/** Makes the keys of a new resource. */
export type NewKeys = (id: string) => AccessKeys

export const randomKeys = (): AccessKeys => [randomKey(), randomKey()]
