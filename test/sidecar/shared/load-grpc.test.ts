import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { grpcPackages, loadGrpc } from '../../../src/sidecar/shared/load-grpc.ts'

const manifest = z.object({ peerDependencies: z.record(z.string(), z.string()) })

it('names the packages of gRPC and their versions as package.json has them', () => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  const { peerDependencies } = manifest.parse(JSON.parse(text))
  const peers = Object.entries(peerDependencies).filter(([name]) => name.startsWith('@grpc/'))
  // ^1.14.7 is within 1, ^0.8.1 within 0.8.
  const lines = peers.map(([name, range]) => `${name}@${/^\^(0\.\d+|[1-9]\d*)\./.exec(range)?.[1]}`)
  expect(lines).toEqual(grpcPackages)
})

it('says what to install where a package is missing, and passes on every other failure', async () => {
  await expect(loadGrpc('serve', () => import(String('@grpc/not-there')))).rejects.toMatchObject({
    name: 'UsageError',
    message: 'serve needs gRPC: npm install @grpc/grpc-js@1 @grpc/proto-loader@0.8 @grpc/reflection@1',
  })
  const failure = new Error('another')
  await expect(loadGrpc('serve', () => Promise.reject(failure))).rejects.toBe(failure)
})
