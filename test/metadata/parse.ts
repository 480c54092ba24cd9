import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { thrownBy } from '../support/thrown.ts'
import { sampleInput } from './sample.ts'

/** The input side of the sample with some fields added or changed. */
export const input = (extra: Record<string, unknown> = {}) => parseMetadata({ ...sampleInput, ...extra }).push

/** The sample, or another record, without one of its fields. */
export const without = (name: string, from: Record<string, unknown> = sampleInput): Record<string, unknown> =>
  Object.fromEntries(Object.entries(from).filter(([key]) => key !== name))

/** The issues of metadata that is refused. */
export const faults = (properties: Record<string, unknown>, options = {}) =>
  thrownBy(() => parseMetadata(properties, options)).issues
