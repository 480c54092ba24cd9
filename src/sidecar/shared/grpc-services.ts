/** The services of a `.proto` file that was compiled to JSON, and the bound of a status text. */
import { fromJSON, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader'
import { cut } from '../../support/text/text.ts'

/**
 * The definitions of a `.proto` file, from its JSON form (`npm run definitions` writes it). Every field of a message that was
 * read has a value, its default where it was not sent.
 */
export function loadDefinitions(compiled: object): PackageDefinition {
  return fromJSON(Object(compiled), { defaults: true })
}

/** @param name its full name, with the package */
export function serviceOf(definitions: PackageDefinition, name: string): ServiceDefinition {
  const definition = definitions[name]
  if (!definition || isMessage(definition)) throw new Error(`the .proto file holds no service ${name}`)
  return definition
}

const isMessage = (
  definition: PackageDefinition[string],
): definition is Exclude<typeof definition, ServiceDefinition> => 'format' in definition

/**
 * A text as a status holds it. gRPC sends it percent-encoded in a header, whose bytes peers limit; half a surrogate pair can't be
 * encoded.
 */
export const statusDetails = (text: string): string => cut(text, 4_000).toWellFormed()
