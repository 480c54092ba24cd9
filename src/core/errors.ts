/**
 * The stable codes of {@link BindingError}: a caller branches on these, never on the message.
 * README's errors table explains each; a test keeps the two alike.
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

/** One fault of the metadata or of a component's YAML; a METADATA_INVALID error carries every fault there is. */
export interface MetadataIssue {
  /**
   * The field as the table of metadata fields spells it, or as the user did where it is unknown.
   * Absent: the document as a whole.
   */
  readonly field?: string
  /** The value as it may be shown: quoted, or `(redacted)` for a secret. */
  readonly value?: string
  /** The rule that the value breaks. */
  readonly rule: string
  /** What to write instead. */
  readonly fix?: string
  /** Where in the YAML file it stands: `file:line:column`, lines and columns from 1. */
  readonly at?: string
}

/**
 * What a {@link BindingError} is made of. Nothing secret may be put in: neither texts nor details are filtered again.
 */
export interface BindingErrorParts {
  /** What was wrong, without a full stop. */
  readonly what: string
  /** What to do about it; may hold lines to paste. */
  readonly fix?: string
  /** The original error. It must be safe to print: a foreign error that may carry a secret stays out. */
  readonly cause?: unknown
  /** With METADATA_INVALID: every fault. */
  readonly issues?: readonly MetadataIssue[]
  /**
   * Further facts by code, for instance `status` and `requestId` of an answer, or `ids` of the
   * events that were not published.
   */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * Every failure that this package reports, but for a wrong use of its functions, which is a TypeError. Holds no secret.
 */
export class BindingError extends Error {
  override readonly name = 'BindingError'
  /** What a caller branches on. */
  readonly code: BindingErrorCode
  /** What to do about it, as it also stands in the message. */
  declare readonly fix?: string
  /** With METADATA_INVALID: every fault; else empty. */
  readonly issues: readonly MetadataIssue[]
  /** Further facts by code. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: BindingErrorCode, parts: BindingErrorParts) {
    const text = [`${code}: ${parts.what}`, parts.fix].filter(Boolean).join('; ')
    super(text, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = code
    // Declared only, so that an error without one shows none.
    if (parts.fix !== undefined) this.fix = parts.fix
    this.issues = parts.issues ?? []
    this.details = parts.details ?? {}
  }
}

/** What an error says without its code and its remedy. */
export const whatIsWrong = ({ code, message, fix }: BindingError): string =>
  message.slice(`${code}: `.length, fix === undefined ? undefined : -`; ${fix}`.length)

/** What an error says behind its code. */
export const messageWithoutCode = ({ code, message }: BindingError): string => message.slice(`${code}: `.length)
