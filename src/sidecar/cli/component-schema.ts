/** The JSON Schema of a component's YAML, for editors, made from the table of fields. */

import { componentTypes, componentVersion } from '../../metadata/component/component-definition.ts'
import { type MetadataField, metadataFields } from '../../metadata/fields/find-field.ts'

/**
 * The JSON Schema (draft 7) of a component's YAML. It is stricter than `init` in one point: it takes names in the documented spelling
 * alone. Which fields belong together is left to `init`, whose errors say it better than a schema can.
 */
export function componentSchema(): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Component of eventgrid-binding',
    description: 'An Azure Event Grid binding: an input side, an output side, or both.',
    ...mapping(
      {
        apiVersion: {
          description: 'Any domain name, then /v1alpha1.',
          type: 'string',
          pattern: '^[A-Za-z0-9.-]+/v1alpha1$',
          default: 'dapr.io/v1alpha1',
        },
        kind: { const: 'Component' },
        metadata: {
          type: 'object',
          required: ['name'],
          properties: { name: { description: 'Name of the component.', type: 'string', minLength: 1 } },
        },
        spec: mapping(
          {
            type: { description: 'The two types are the same component.', enum: componentTypes },
            version: { description: 'The only version.', const: componentVersion },
            metadata: { description: 'The metadata fields.', type: 'array', maxItems: 256, items: entrySchema() },
          },
          { ignoreErrors: daprs({ type: 'boolean' }), initTimeout: daprs(text) },
        ),
      },
      {
        auth: daprs(mapping({ secretStore: text })),
        scopes: daprs({ type: 'array', items: text }),
      },
    ),
  }
}

const text = { type: 'string' } as const

/** A mapping with fields that must be there, and others that may. No other field is allowed. */
function mapping(required: Readonly<Record<string, object>>, optional: Readonly<Record<string, object>> = {}) {
  const properties = { ...required, ...optional }
  return { type: 'object', required: Object.keys(required), properties, additionalProperties: false } as const
}

const daprs = <Schema extends object>(schema: Schema) => ({ description: 'Read by Dapr.', ...schema })

function entrySchema() {
  const names = metadataFields.flatMap((field) =>
    [field.name, ...field.aliases].map((name) => ({ const: name, description: field.about })),
  )
  const route = { const: 'route', description: 'Read by Dapr: the path of the application that gets the events.' }
  return {
    ...mapping(
      { name: { anyOf: [...names, route] } },
      {
        value: { description: 'A string: put numbers, true and false in quotes.', type: 'string' },
        secretKeyRef: {
          description: 'A key of a secret, in place of value.',
          ...mapping({ name: text }, { key: text }),
        },
        envRef: { description: 'An environment variable, in place of value.', type: 'string', minLength: 1 },
      },
    ),
    oneOf: [{ required: ['value'] }, { required: ['secretKeyRef'] }, { required: ['envRef'] }],
    allOf: metadataFields.map(ruleOfField),
  }
}

function ruleOfField({ name, aliases, type, choices, default: value, otherwise, about }: MetadataField) {
  const fallback = value ?? otherwise
  const description = `${about} Format: ${type}.${fallback === undefined ? '' : ` Default: ${fallback}.`}`
  return {
    if: { required: ['name'], properties: { name: { enum: [name, ...aliases] } } },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word.
    then: {
      properties: {
        value: {
          description,
          // Examples and no enum: `init` takes a word in any letter case.
          ...(choices.length > 0 && { examples: choices }),
          ...(value !== undefined && { default: value }),
        },
      },
    },
  }
}
