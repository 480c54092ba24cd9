/** `BindingError`: its codes, the facts that each code brings, and the one place that puts them into words. */
import type { Component, FilePlace } from './component.ts'

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
  'SIDE_NOT_CONFIGURED',
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
  /** Its place in the YAML file, from the loader always; of a file or folder that can't be read its first line. */
  readonly at?: FilePlace
  /**
   * `unresolvedReference`: a `secretKeyRef` or `envRef` leads to nothing. `doubledName`: another component has the name.
   * `secretStore`: a secret store can't be read. `unreadable`: a file or folder can't.
   * @default 'brokenRule'
   */
  readonly kind?: 'brokenRule' | 'unresolvedReference' | 'doubledName' | 'secretStore' | 'unreadable'
}

/** The facts of an answer of Azure. */
interface AnswerDetails {
  /** HTTP status of the last answer; absent where there was none. */
  readonly status?: number
  /** Azure's id of the request, such as Event Grid's `x-ms-request-id`, for a support request. */
  readonly requestId?: string
  /** How often the request was sent. */
  readonly attempts?: number
}

/** The facts of a refusal by Azure Resource Manager or Entra, and of the handshake that Resource Manager asked for. */
export interface ProvisioningDetails extends AnswerDetails {
  /** Azure's own code for the failure. */
  readonly azureCode?: string
  /** Entra's code, `AADSTS` and a number. */
  readonly entraCode?: string
  /** The endpoint that Event Grid could not validate, without its query. */
  readonly endpoint?: string
  /** What the endpoint answered to Event Grid: a status or a word for it. */
  readonly answer?: string
}

/** The facts of a `create` whose events were not all published. */
export interface PublishDetails extends AnswerDetails {
  /** Ids of the events that were not published, as far as is known. */
  readonly ids?: readonly string[]
  /** Ids of the events of the same call that were published. */
  readonly published?: readonly string[]
  /** Size of the one event that is too large, in bytes of UTF-8 JSON. */
  readonly bytes?: number
}

/** What is wrong with a payload. */
export interface PayloadDetails {
  /** The metadata field that settles which schema is taken. */
  readonly field?: string
  /** Each fault of the events: a sentence that names event and attribute. */
  readonly faults?: readonly string[]
}

/** Facts of a port that could not be opened. */
export interface PortDetails {
  readonly port?: number
  readonly host?: string
  /** The system's code, for instance EADDRINUSE. */
  readonly reason?: string
}

/** What else the loaded files hold. */
export interface FilesDetails {
  /** The components that have no fault, from `loadComponents` and `parseComponents`. */
  readonly components?: readonly Component[]
}

type NoDetails = Readonly<Record<never, never>>

/** The `details` of a {@link BindingError} by its code. */
export interface BindingErrorDetails {
  readonly METADATA_INVALID: FilesDetails
  readonly NOT_INITIALIZED: NoDetails
  readonly ALREADY_INITIALIZED: NoDetails
  readonly CLOSED: PublishDetails
  readonly OPERATION_UNSUPPORTED: NoDetails
  readonly SIDE_NOT_CONFIGURED: NoDetails
  readonly PORT_UNAVAILABLE: PortDetails
  readonly CREDENTIALS_REJECTED: ProvisioningDetails & PublishDetails
  readonly PERMISSION_DENIED: ProvisioningDetails & PublishDetails
  readonly PROVIDER_NOT_REGISTERED: ProvisioningDetails
  readonly SCOPE_NOT_FOUND: ProvisioningDetails
  readonly HANDSHAKE_FAILED: ProvisioningDetails
  readonly SUBSCRIPTION_REJECTED: ProvisioningDetails
  readonly PAYLOAD_INVALID: PayloadDetails
  readonly PAYLOAD_TOO_LARGE: PublishDetails
  readonly PUBLISH_REJECTED: PublishDetails
  readonly PUBLISH_UNAVAILABLE: PublishDetails
  readonly OVERLOADED: NoDetails
  readonly TIMEOUT: ProvisioningDetails
  readonly ABORTED: PublishDetails
  readonly PLUGIN_FAILED: NoDetails
}

/** The codes of a failure to set up the event subscription. */
export type ProvisioningErrorCode =
  | 'CREDENTIALS_REJECTED'
  | 'PERMISSION_DENIED'
  | 'PROVIDER_NOT_REGISTERED'
  | 'SCOPE_NOT_FOUND'
  | 'HANDSHAKE_FAILED'
  | 'SUBSCRIPTION_REJECTED'
  | 'TIMEOUT'

/** The codes of a topic's refusal. */
export type PublishErrorCode =
  | 'CREDENTIALS_REJECTED'
  | 'PERMISSION_DENIED'
  | 'PAYLOAD_TOO_LARGE'
  | 'PUBLISH_REJECTED'
  | 'PUBLISH_UNAVAILABLE'

/** The parts of a {@link BindingError}. None may hold a secret: the texts are not cleaned again. */
export interface BindingErrorParts<Code extends BindingErrorCode = BindingErrorCode> {
  /** What was wrong, without a full stop. */
  readonly what: string
  /** What to do about it; may hold commands to paste. */
  readonly fix?: string | undefined
  readonly issues?: readonly MetadataIssue[] | undefined
  /** The original error. It must be safe to print, so never an error of other code that may hold a secret. */
  readonly cause?: unknown
  readonly details?: BindingErrorDetails[Code] | undefined
}

/** Copies of this package in one process know each other's errors by it. */
const mark = Symbol.for('eventgrid-binding.BindingError')

/** A {@link BindingError} of one code. */
class CodedError<Code extends BindingErrorCode> extends Error {
  override readonly name = 'BindingError'
  /** What a caller branches on. */
  readonly code: Code
  /** What was wrong. The message says it too. */
  readonly what: string
  /** What to do about it; may hold commands to paste. The message says it too. */
  declare readonly fix?: string
  /** With METADATA_INVALID: every fault; else empty. */
  readonly issues: readonly MetadataIssue[]
  /** Further facts by code, for instance `status` and `requestId` of an answer, or `ids` of the events that were not published. */
  readonly details: BindingErrorDetails[Code]

  constructor(code: Code, parts: BindingErrorParts<Code>) {
    super(`${code}: ${inWords(parts)}`, parts.cause === undefined ? undefined : { cause: parts.cause })
    this.code = code
    this.what = parts.what
    // Not set to undefined, which would be printed.
    if (parts.fix !== undefined) this.fix = parts.fix
    this.issues = parts.issues ?? []
    this.details = parts.details ?? {}
  }

  get [mark](): true {
    return true
  }
}

/**
 * Every failure that this package reports, except wrong use of its functions, which is a TypeError. Holds no secret.
 * `switch (error.code)` narrows `details`.
 */
export type BindingError<Code extends BindingErrorCode = BindingErrorCode> = {
  [Each in BindingErrorCode]: CodedError<Each>
}[Code]

/** The class of {@link BindingError}. */
export const BindingError: {
  readonly prototype: BindingError
  new <Code extends BindingErrorCode>(code: Code, parts: BindingErrorParts<Code>): CodedError<Code>
} = CodedError

/** Whether this is a {@link BindingError}, also one of another copy of this package in the process. */
export function isBindingError(error: unknown): error is BindingError {
  return error instanceof Error && mark in error
}

/** What may be shown of any error: the message of one of ours; the text of another one may hold a secret. */
export const shownMessage = (error: unknown): string => (isBindingError(error) ? error.message : 'an unexpected error')

/** What an error says, without its code. */
export const inWords = ({ what, fix }: Pick<BindingErrorParts, 'what' | 'fix'>): string =>
  [what, fix].filter(Boolean).join('; ')
