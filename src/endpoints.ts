/** Where Azure is, when it is not where the cloud says: the emulator, a private cloud, a proxy. */
export interface Endpoints {
  /** Base URL of Azure Resource Manager, https. @default of `azureEnvironment` */
  readonly resourceManager?: string
  /** Entra's authority host, https. One outside Azure turns instance discovery off. @default of `azureEnvironment` */
  readonly authorityHost?: string
  /** Certificates (PEM) to trust beside Node's own. */
  readonly ca?: string
}
