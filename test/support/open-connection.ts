import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** Opens a TCP connection to this machine, writes some bytes and leaves it open until the test's end. */
export async function openConnection(port: number, bytes = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  if (bytes !== '') await new Promise((written) => socket.write(bytes, written))
  return socket
}
