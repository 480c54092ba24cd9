// `BindingError`, the list of its codes, and how its message is built.

/**
 * The stable codes of {@link BindingError}: a caller branches on these, never on the message.
 * docs/errors.md explains each; a test compares the two.
 */
export const bindingErrorCodes = [
  'METADATA_INVALID',
  'NOT_INITIALIZED',
  'ALREADY_INITIALIZED',
  'CLOSED',
  'OPERATION_UNSUPPORTED',
  'PORT_UNAVAILABLE',
  'CREDENTIALS_REJECTED',
  'PERMISSION_DENIED',
  'PROVIDER_NOT_REGISTERED',
  'SCOPE_NOT_FOUND',
  'HANDSHAKE_FAILED',
  'SUBSCRIPTION_REJECTED',
  'PAYLOAD_INVALID',
  'PAYLOAD_TOO_LARGE',
  'PUBLISH_REJECTED',
  'PUBLISH_UNAVAILABLE',
  'OVERLOADED',
  'TIMEOUT',
  'ABORTED',
  'PLUGIN_FAILED',
] as const

/** One of {@link bindingErrorCodes}. */
export type BindingErrorCode = (typeof bindingErrorCodes)[number]

/** One fault of the metadata or of a component's YAML. A METADATA_INVALID error has all of them. */
export interface MetadataIssue {
  /** The field in its documented spelling; an unknown field as the user wrote it. Absent: the document as a whole. */
  readonly field?: string
  /** The value in quotes, or `(redacted)` for a secret. */
  readonly value?: string
  /** The rule that the value breaks. */
  readonly rule: string
  /** What to write instead. */
  readonly fix?: string
  /** Its place in the YAML file: `file:line:column`, lines and columns from 1. */
  readonly at?: string
}

/** The parts of a {@link BindingError}. None may hold a secret: texts and details are not filtered again. */
export interface BindingErrorParts extends Partial<Pick<BindingError, 'fix' | 'issues' | 'details'>> {
  /** What was wrong, without a full stop. */
  readonly what: string
  /** The original error. It must be safe to print, so never an error of other code that may hold a secret. */
  readonly cause?: unknown
}

/** Every failure that this package reports, except wrong use of its functions, which is a TypeError. Holds no secret. */
export class BindingError extends Error {
  override readonly name = 'BindingError'
  /** What a caller branches on. */
  readonly code: BindingErrorCode
  /** What to do about it; may hold commands to paste. The message says it too. */
  declare readonly fix?: string
  /** With METADATA_INVALID: every fault; else empty. */
  readonly issues: readonly MetadataIssue[]
  /** Further facts by code, for instance `status` and `requestId` of an answer, or `ids` of the events that were not published. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: BindingErrorCode, parts: BindingErrorParts) {
    const text = [`${code}: ${parts.what}`, parts.fix].filter(Boolean).join('; ')
    super(text, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = code
    // Not set to undefined, which would be printed.
    if (parts.fix !== undefined) this.fix = parts.fix
    this.issues = parts.issues ?? []
    this.details = parts.details ?? {}
  }
}

/** The message of an error without its code and its fix. */
export const whatIsWrong = ({ code, message, fix }: BindingError): string =>
  message.slice(`${code}: `.length, fix === undefined ? undefined : -`; ${fix}`.length)

/** The message of an error without its code. */
export const messageWithoutCode = ({ code, message }: BindingError): string => message.slice(`${code}: `.length)
