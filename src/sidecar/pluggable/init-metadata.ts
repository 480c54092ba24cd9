// The properties of an `Init`, parsed once for both sides of a component.
import { createHash } from 'node:crypto'
import type { Logger } from '../../core/logger.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import { describeIssue } from '../../metadata/typed/metadata-invalid.ts'
import { parseMetadata } from '../../metadata/typed/parse-metadata.ts'
import type { Texts } from './grpc/contract.ts'

export interface InitMetadata {
  readonly metadata: ParsedMetadata
  /** A digest, because secrets are not kept: equal for equal properties. */
  readonly fingerprint: string
}

/** Reads the properties of a component's Inits. Both sides are given the same ones, so the last result is kept. */
export function createInitReader({ name, logger }: { readonly name: string; readonly logger: Logger }) {
  let last: InitMetadata | undefined
  /** @throws BindingError METADATA_INVALID */
  return (properties: Texts): InitMetadata => {
    const fingerprint = fingerprintOf(properties)
    if (last?.fingerprint === fingerprint) return last
    const metadata = parseMetadata(properties, { componentName: name, resolvedBy: 'sidecar' })
    for (const warning of metadata.warnings) logger.warn(describeIssue(warning))
    last = { metadata, fingerprint }
    return last
  }
}

function fingerprintOf(properties: Texts): string {
  const sorted = Object.entries(properties).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex')
}
