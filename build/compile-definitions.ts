/** A `.proto` file in the JSON form that protobufjs and @grpc/proto-loader load. */
import protobuf from 'protobufjs'

export function compileDefinitions(file: string): string {
  return `${JSON.stringify(new protobuf.Root().loadSync(file).toJSON(), undefined, 2)}\n`
}
