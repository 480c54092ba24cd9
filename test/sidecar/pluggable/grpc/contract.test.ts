import { expect, it } from 'vitest'
import { loadContract } from '../../../../src/sidecar/pluggable/grpc/contract.ts'
import { openComponent } from '../open-component.ts'

/** Field names (in JSON's spelling), numbers and protobuf types as Dapr has them in dapr.proto.components.v1. */
const messages = {
  MetadataRequest: { properties: [1, 'message'] },
  InputBindingInitRequest: { metadata: [1, 'message'] },
  OutputBindingInitRequest: { metadata: [1, 'message'] },
  InputBindingInitResponse: {},
  OutputBindingInitResponse: {},
  ReadRequest: { responseData: [1, 'bytes'], messageId: [2, 'string'], responseError: [3, 'message'] },
  AckResponseError: { message: [1, 'string'] },
  ReadResponse: {
    data: [1, 'bytes'],
    metadata: [2, 'message'],
    contentType: [3, 'string'],
    messageId: [4, 'string'],
  },
  InvokeRequest: { data: [1, 'bytes'], metadata: [2, 'message'], operation: [3, 'string'] },
  InvokeResponse: { data: [1, 'bytes'], metadata: [2, 'message'], contentType: [3, 'string'] },
  ListOperationsRequest: {},
  ListOperationsResponse: { operations: [1, 'string'] },
  PingRequest: {},
  PingResponse: {},
}

it.each(Object.entries(messages))('has %s as Dapr has it on the wire', (name, fields) => {
  const definition = loadContract().all[`dapr.proto.components.v1.${name}`]
  expect(definition).toMatchObject({ format: expect.stringContaining('DescriptorProto') })
  const type = Object(Object(definition).type)
  const found = Array.from(type.field, ({ name, number, type }: { name: string; number: number; type: string }) => [
    name,
    [number, type.replace('TYPE_', '').toLowerCase()],
  ])
  expect(Object.fromEntries(found)).toEqual(fields)
})

it.each(['v1', 'v1alpha'] as const)(
  'names its services by reflection %s, which is how daprd finds them',
  async (version) => {
    const { host } = await openComponent()
    const services = await host.services(version)
    expect(services).toContain('dapr.proto.components.v1.InputBinding')
    expect(services).toContain('dapr.proto.components.v1.OutputBinding')
  },
)
