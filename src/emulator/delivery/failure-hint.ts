/** A request to a subscriber that got no answer. */
interface Unanswered {
  /** As the event subscription has it. */
  readonly url: URL
  /** Where the ingress sent it; the same URL where no rule fits. */
  readonly target: URL
  readonly error: NodeJS.ErrnoException
}

/**
 * What whoever runs the emulator should do, where the reason that the network gives does not tell;
 * undefined elsewhere. Holds no query.
 */
export function failureHint({ url, target, error }: Unanswered): string | undefined {
  const rule = (to: string) => `an ingress rule from ${url.origin}/ to ${to} (emulate --ingress ${url.origin}/=${to})`
  if (/wrong version number|packet length too long/i.test(error.message)) {
    return `${target.origin} speaks plain http there: use ${rule(`http://${target.host}/`)}`
  }
  if (error.syscall === 'getaddrinfo' && url.href === target.href) {
    return `no ingress rule fits ${url.origin}${url.pathname}, and its host is not known here: give ${rule('http://127.0.0.1:PORT/')}`
  }
  return undefined
}
