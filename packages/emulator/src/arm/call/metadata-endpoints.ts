/** What Resource Manager tells of the cloud before a client signs in, in the shapes of its api-versions. */
import { armErrors } from './errors.ts'

const audiences = ['https://management.core.windows.net/', 'https://management.azure.com/']

/**
 * The endpoints of the cloud, with the emulator for Resource Manager and Entra. Azure CLI reads those of 2015, Terraform those
 * of 2022. Throws an ArmError without an api-version. @param host the host and port of the request
 */
export function answerMetadata(host: string, query: URLSearchParams): object {
  const version = query.get('api-version')
  if (!version) throw armErrors.missingApiVersion()
  if (version < '2019') return oldMetadata(host)
  const metadata = newMetadata(host)
  // The versions before 2022 list the clouds.
  return version < '2022' ? [metadata] : metadata
}

const oldMetadata = (host: string) => ({
  galleryEndpoint: 'https://gallery.azure.com/',
  graphEndpoint: 'https://graph.windows.net/',
  portalEndpoint: 'https://portal.azure.com/',
  graphAudience: 'https://graph.windows.net/',
  authentication: { loginEndpoint: `https://${host}/`, audiences, tenant: 'common', identityProvider: 'AAD' },
})

/** Terraform joins the login endpoint and a path, so it has no slash at its end. */
const newMetadata = (host: string) => ({
  portal: 'https://portal.azure.com',
  authentication: { loginEndpoint: `https://${host}`, audiences, tenant: 'common', identityProvider: 'AAD' },
  media: 'https://rest.media.azure.net',
  graphAudience: 'https://graph.windows.net/',
  graph: 'https://graph.windows.net/',
  name: 'AzureCloud',
  suffixes: {
    azureDataLakeStoreFileSystem: 'azuredatalakestore.net',
    acrLoginServer: 'azurecr.io',
    sqlServerHostname: 'database.windows.net',
    azureDataLakeAnalyticsCatalogAndJob: 'azuredatalakeanalytics.net',
    keyVaultDns: 'vault.azure.net',
    storage: 'core.windows.net',
    azureFrontDoorEndpointSuffix: 'azurefd.net',
    storageSyncEndpointSuffix: 'afs.azure.net',
    mhsmDns: 'managedhsm.azure.net',
    mysqlServerEndpoint: 'mysql.database.azure.com',
    postgresqlServerEndpoint: 'postgres.database.azure.com',
    mariadbServerEndpoint: 'mariadb.database.azure.com',
    synapseAnalytics: 'dev.azuresynapse.net',
    attestationEndpoint: 'attest.azure.net',
  },
  batch: 'https://batch.core.windows.net/',
  resourceManager: `https://${host}/`,
  activeDirectoryDataLake: 'https://datalake.azure.net/',
  sqlManagement: 'https://management.core.windows.net:8443/',
  gallery: 'https://gallery.azure.com/',
  microsoftGraphResourceId: 'https://graph.microsoft.com/',
  appInsightsResourceId: 'https://api.applicationinsights.io',
  appInsightsTelemetryChannelResourceId: 'https://dc.applicationinsights.azure.com/v2/track',
  attestationResourceId: 'https://attest.azure.net',
  synapseAnalyticsResourceId: 'https://dev.azuresynapse.net',
  logAnalyticsResourceId: 'https://api.loganalytics.io',
  ossrDbmsResourceId: 'https://ossrdbms-aad.database.windows.net',
})
