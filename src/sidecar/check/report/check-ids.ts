/** The ids of all checks, in their order. */

/**
 * The ids of all checks, in the order in which they are reported. They are a public interface: docs/check.md has a section
 * for each, and the JSON Schema of the report lists them.
 */
export const checkIds = [
  'files/yaml',
  'files/metadata',
  'files/secrets',
  'files/names',
  'machine/port',
  'machine/clock',
  'machine/sidecar',
  'endpoint/dns',
  'endpoint/connect',
  'endpoint/certificate',
  'endpoint/handshake',
  'endpoint/path',
  'azure/credential',
  'azure/provider',
  'azure/scope',
  'azure/permission',
  'azure/subscription',
  'pull/receive',
  'pull/settle',
  'filters/event',
  'topic/dns',
  'topic/certificate',
  'topic/credential',
  'round-trip/event',
] as const

export type CheckId = (typeof checkIds)[number]
