/** The types of what `init` accepts: fields, a list of names and values, or a component document. */
import type { Secret } from '../core/secret.ts'
import type { FieldAlias, FieldName, FieldOf, WrittenFor } from '../metadata/fields/find-field.ts'

/**
 * Metadata fields by name. Each value is a string, as in component YAML; `undefined` and `''` count as absent.
 * The compiler wants the documented spelling of names, and of the words of a field that takes a few; `init` itself also takes them
 * in another letter case.
 */
export type MetadataFields<Given = unknown> = {
  readonly [Name in FieldName | FieldAlias]?: TextFor<Name, Given> | '' | Secret | undefined
}

/** A text that the compiler knows has to be one of the field's words; any other is judged as `init` runs. */
type TextFor<Name extends FieldName | FieldAlias, Given> = Given extends { readonly [Key in Name]?: infer Text }
  ? string extends Text
    ? string
    : WrittenFor<FieldOf<Name>>
  : WrittenFor<FieldOf<Name>>

/** Metadata fields with the component's name, from which the event subscription takes its default name. */
export interface NamedMetadata<Given = unknown> {
  readonly name?: string | undefined
  /** `bindings.azure.eventgrid` or `bindings.cloud.eventrouter`. */
  readonly type?: string | undefined
  /** `v1`. */
  readonly version?: string | undefined
  readonly properties: MetadataFields<Given> | readonly { readonly name: string; readonly value?: string | Secret }[]
}

/** A component document, as a YAML parser gives it. */
export interface ComponentDocument {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [other: string]: unknown }
  readonly spec: {
    readonly type: string
    readonly version?: string
    readonly ignoreErrors?: boolean
    readonly metadata?: readonly { readonly name: string; readonly value?: string }[]
  }
  readonly auth?: { readonly secretStore?: string }
  readonly scopes?: readonly string[]
}

/** What `init` takes where the compiler knows its shape. */
export type Metadata<Given = unknown> = (
  | MetadataFields<Given>
  | NamedMetadata<Given extends { readonly properties: infer Properties } ? Properties : unknown>
  | ComponentDocument
) &
  object

/**
 * The type of `init`'s first parameter. Given `unknown`, `any` or a record of any strings (parsed YAML, a component of
 * `parseComponents`), `init` checks it as it runs. A literal is checked by the compiler too, and a list, `undefined` alone, `null` or a
 * promise is refused. `Component | undefined` is taken, so that `const [orders] = parseComponents(text)` needs no cast.
 */
export type GivenMetadata<Given> = unknown extends Given
  ? Given
  : IsNoComponent<Given> extends true
    ? NamedMetadata
    : IsOpen<Given> extends true
      ? Given
      : NonNullable<Given> extends { readonly properties: infer Properties }
        ? IsOpen<Properties> extends true
          ? Given
          : Metadata<Given>
        : Metadata<Given>

/** May it be a list or a promise, whose keys would pass for fields that are all absent, or can it only be nothing? */
type IsNoComponent<Value> = [Value] extends [null | undefined]
  ? true
  : [Extract<Value, readonly unknown[] | PromiseLike<unknown>>] extends [never]
    ? false
    : true

/** Does the compiler not know the keys? */
type IsOpen<Value> = unknown extends Value ? true : string extends keyof NonNullable<Value> ? true : false
