/**
 * The part of Standard Schema (standardschema.dev, version 1) that a validator of any library has: zod, valibot,
 * arktype. Only what {@link routeEvents} reads is declared.
 */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

/** The parsed value, or the issues that a validator found. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One fault of a value. */
export interface SchemaIssue {
  readonly message: string
  /** The way to the fault: keys, or objects with a key. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
