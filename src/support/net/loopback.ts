// Which host names mean this machine: localhost, 127.x.x.x, ::1; which mean all of its addresses.

/** Whether a host name or address always means this machine. An IPv6 address may be in brackets, as in a URL. */
export function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|::1|\[::1\])$/i.test(host)
}

/** Whether listening on it is listening on all addresses. No client can use it as a host. */
export const isEveryAddress = (host: string): boolean => host === '0.0.0.0' || host === '::'
