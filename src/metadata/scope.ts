/**
 * A scope past the door (specification, section 2.3). `id` is the canonical resource id: a leading slash, no trailing one,
 * in the letter case the user wrote.
 */
export type Scope = { readonly id: string; readonly subscriptionId: string } & (
  | { readonly kind: 'subscription' }
  | { readonly kind: 'resourceGroup'; readonly resourceGroup: string }
  | {
      readonly kind: 'resource' | 'topic'
      readonly resourceGroup: string
      readonly provider: string
      /** Type and name pairs, outermost first: a domain's topic has two. */
      readonly path: readonly { readonly type: string; readonly name: string }[]
    }
)
