// The api-versions of Event Grid that ARM knows.
import type { ArmCall } from './call.ts'
import { armErrors } from './errors.ts'

/**
 * The stable versions of Microsoft.EventGrid and its previews that carry the same shapes (Azure:
 * api-versions of the provider).
 */
const eventGridApiVersions: readonly string[] = [
  '2018-01-01',
  '2018-05-01-preview',
  '2018-09-15-preview',
  '2019-01-01',
  '2019-02-01-preview',
  '2019-06-01',
  '2020-01-01-preview',
  '2020-04-01-preview',
  '2020-06-01',
  '2020-10-15-preview',
  '2021-06-01-preview',
  '2021-10-15-preview',
  '2021-12-01',
  '2022-06-15',
  '2023-06-01-preview',
  '2023-12-15-preview',
  '2024-06-01-preview',
  '2024-12-15-preview',
  '2025-02-15',
  '2025-04-01-preview',
  '2025-07-15-preview',
]

/** Throws an ArmError for an api-version that Event Grid does not have. */
export function requireEventGridVersion(call: ArmCall, type: string): void {
  if (!eventGridApiVersions.includes(call.apiVersion.toLowerCase())) {
    throw armErrors.unsupportedApiVersion(type, call.apiVersion, eventGridApiVersions)
  }
}
