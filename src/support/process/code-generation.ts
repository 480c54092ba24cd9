/** Whether Node makes functions out of text here, which the router of Fastify and protobufjs need, and the message where it does not. */

const forbidding = '--disallow-code-generation-from-strings'

/** What is wrong and what to do where Node makes no functions out of text; `undefined` where it does. */
export function complaintAboutCodeGeneration(): { readonly what: string; readonly fix: string } | undefined {
  try {
    // Asking for the option would miss the other ways to set it.
    new Function()
    return undefined
  } catch {
    return {
      what: `its HTTP or gRPC server makes functions out of text, and Node forbids that (${forbidding})`,
      fix: `take ${forbidding} out of NODE_OPTIONS and of the command line of node; docs/security.md says what needs it`,
    }
  }
}
