/** Which kinds of sources Azure has, which event types each sends, and which of these go to event subscriptions that name none. */

/** A kind of source of Azure. */
export interface TopicType {
  readonly name: string
  readonly displayName: string
  /** The display name in the versions of 2018 (azure-mgmt-eventgrid, Python). @default displayName */
  readonly displayNameOf2018?: string
  readonly description: string
  /** What a source's id has behind `providers/`. Absent: see `scopes`, or the sources are those of Event Grid itself. */
  readonly source?: string
  /** The source is an Azure subscription, a resource group or a management group. */
  readonly scopes?: readonly ('AzureSubscription' | 'ManagementGroup')[]
  /** The format of a source that is no resource. */
  readonly sourceFormat?: string
  readonly isGlobal?: true
  /** Global and regional sources alike. */
  readonly isAnywhere?: true
  /** What an event subscription needs beside its own right, behind `Microsoft.ResourceNotifications/systemTopics/`. */
  readonly permission?: string
  /** Sent to event subscriptions without `includedEventTypes`, as a filter. Absent: the event types are not known. */
  readonly byDefault?: readonly string[]
  /** Sent to event subscriptions that include them. */
  readonly onDemand?: readonly string[]
}

/** Names, separated by spaces, behind a provider. */
const of = (provider: string, names: string) => names.split(/\s+/).map((name) => `${provider}.${name}`)

const resourceEvents = ['Write', 'Delete', 'Action'].flatMap((verb) =>
  of('Microsoft.Resources', ['Success', 'Failure', 'Cancel'].map((end) => `Resource${verb}${end}`).join(' ')),
)
const notified = { isGlobal: true, scopes: ['AzureSubscription'] } as const

/**
 * As Resource Manager listed them on 2026-03-13 (Azure/azure-sdk-assets, JavaScript, 2025-07-15-preview). The event types of Storage (there
 * too) and of Azure subscriptions (Azure CLI, 2022) are recorded, with what is sent by default; that of Event Hubs (PowerShell, 2024).
 * All others are those of @azure/eventgrid 5.12.0; that they are sent by default is assumed.
 */
export const topicTypes: readonly TopicType[] = [
  {
    name: 'Microsoft.Eventhub.Namespaces',
    displayName: 'Event Hubs Namespaces',
    description: 'Microsoft Event Hubs service events.',
    source: 'Microsoft.EventHub/namespaces/<namespaceName>',
    byDefault: ['Microsoft.EventHub.CaptureFileCreated'],
  },
  {
    name: 'Microsoft.Storage.StorageAccounts',
    displayName: 'Storage Accounts (Blob & GPv2)',
    displayNameOf2018: 'Storage Accounts',
    description: 'Microsoft Storage service events.',
    source: 'Microsoft.Storage/storageAccounts/<storageAccountName>',
    byDefault: of('Microsoft.Storage', 'BlobCreated BlobDeleted'),
    onDemand: of(
      'Microsoft.Storage',
      'DirectoryCreated DirectoryDeleted BlobRenamed DirectoryRenamed BlobTierChanged BlobInventoryPolicyCompleted ' +
        'AsyncOperationInitiated LifecyclePolicyCompleted',
    ),
  },
  {
    name: 'Microsoft.Resources.Subscriptions',
    displayName: 'Azure Subscriptions',
    description: 'Resource management events under an Azure subscription',
    sourceFormat: '/subscriptions/<subscriptionId>',
    isGlobal: true,
    byDefault: resourceEvents,
  },
  {
    name: 'Microsoft.Resources.ResourceGroups',
    displayName: 'Resource Groups',
    description: 'Resource management events under a resource group.',
    sourceFormat: '/subscriptions/<subscriptionId>/resourceGroups/<resourceGroupName>',
    isGlobal: true,
    byDefault: resourceEvents,
  },
  {
    name: 'Microsoft.Devices.IoTHubs',
    displayName: 'Azure IoT Hub Accounts',
    description: 'Azure IoT Hub service events',
    source: 'Microsoft.Devices/ioTHubs/<hubName>',
    byDefault: of(
      'Microsoft.Devices',
      'DeviceCreated DeviceDeleted DeviceConnected DeviceDisconnected DeviceTelemetry',
    ),
  },
  {
    name: 'Microsoft.EventGrid.Topics',
    displayName: 'Event Grid Topics',
    description: 'Custom events via Event Grid Topics',
  },
  {
    name: 'Microsoft.ServiceBus.Namespaces',
    displayName: 'Service Bus Namespaces',
    description: 'Service Bus events',
    source: 'Microsoft.ServiceBus/namespaces/<namespaceName>',
    byDefault: of(
      'Microsoft.ServiceBus',
      'ActiveMessagesAvailableWithNoListeners DeadletterMessagesAvailableWithNoListeners ' +
        'ActiveMessagesAvailablePeriodicNotifications DeadletterMessagesAvailablePeriodicNotifications',
    ),
  },
  {
    name: 'Microsoft.ContainerRegistry.Registries',
    displayName: 'Azure Container Registry',
    description: 'Azure Container Registry service events',
    source: 'Microsoft.ContainerRegistry/registries/<name>',
    byDefault: of('Microsoft.ContainerRegistry', 'ImagePushed ImageDeleted ChartPushed ChartDeleted'),
  },
  {
    name: 'Microsoft.Media.MediaServices',
    displayName: 'Microsoft Azure Media Services',
    description: 'Microsoft Azure Media Services events',
    source: 'Microsoft.Media/MediaServices/<name>',
    byDefault: of(
      'Microsoft.Media',
      'JobStateChange JobScheduled JobProcessing JobCanceling JobFinished JobCanceled JobErrored JobOutputStateChange ' +
        'JobOutputScheduled JobOutputProcessing JobOutputCanceling JobOutputFinished JobOutputCanceled JobOutputErrored ' +
        'JobOutputProgress LiveEventConnectionRejected LiveEventEncoderConnected LiveEventEncoderDisconnected ' +
        'LiveEventIncomingDataChunkDropped LiveEventIncomingStreamReceived LiveEventIncomingStreamsOutOfSync ' +
        'LiveEventIncomingVideoStreamsOutOfSync LiveEventIngestHeartbeat LiveEventTrackDiscontinuityDetected ' +
        'LiveEventChannelArchiveHeartbeat',
    ),
  },
  {
    name: 'Microsoft.Maps.Accounts',
    displayName: 'Azure Maps Accounts',
    description: 'Microsoft Maps service events.',
    source: 'Microsoft.Maps/Accounts/<name>',
    isGlobal: true,
    isAnywhere: true,
    byDefault: of('Microsoft.Maps', 'GeofenceEntered GeofenceExited GeofenceResult'),
  },
  {
    name: 'Microsoft.EventGrid.Domains',
    displayName: 'Event Grid Domains',
    description: 'Custom events via Event Grid Domains.',
  },
  {
    name: 'Microsoft.AppConfiguration.ConfigurationStores',
    displayName: 'Microsoft Azure App Configuration',
    description: 'Microsoft Azure App Configuration events',
    source: 'Microsoft.AppConfiguration/ConfigurationStores/<name>',
    byDefault: of('Microsoft.AppConfiguration', 'KeyValueModified KeyValueDeleted SnapshotCreated SnapshotModified'),
  },
  {
    name: 'Microsoft.KeyVault.vaults',
    displayName: 'Microsoft Key Vault',
    description: 'Microsoft Key Vault service events',
    source: 'Microsoft.KeyVault/vaults/<name>',
    byDefault: [
      ...['Certificate', 'Key', 'Secret'].flatMap((kind) =>
        of('Microsoft.KeyVault', `${kind}NewVersionCreated ${kind}NearExpiry ${kind}Expired`),
      ),
      'Microsoft.KeyVault.VaultAccessPolicyChanged',
    ],
  },
  {
    name: 'Microsoft.Web.Sites',
    displayName: 'App Services',
    description: 'App Services events',
    source: 'Microsoft.Web/sites/<name>',
    byDefault: of(
      'Microsoft.Web',
      'AppUpdated BackupOperationStarted BackupOperationCompleted BackupOperationFailed RestoreOperationStarted ' +
        'RestoreOperationCompleted RestoreOperationFailed SlotSwapStarted SlotSwapCompleted SlotSwapFailed ' +
        'SlotSwapWithPreviewStarted SlotSwapWithPreviewCancelled',
    ),
  },
  {
    name: 'Microsoft.Web.ServerFarms',
    displayName: 'App Service Plans',
    description: 'App Service Plans events',
    source: 'Microsoft.Web/ServerFarms/<name>',
    byDefault: ['Microsoft.Web.AppServicePlanUpdated'],
  },
  {
    name: 'Microsoft.SignalRService.SignalR',
    displayName: 'Azure SignalR Service',
    description: 'Azure SignalR service events',
    source: 'Microsoft.SignalRService/SignalR/<name>',
    byDefault: of('Microsoft.SignalRService', 'ClientConnectionConnected ClientConnectionDisconnected'),
  },
  {
    name: 'Microsoft.MachineLearningServices.Workspaces',
    displayName: 'Machine Learning Workspaces',
    description: 'Microsoft Azure Machine Learning Service events',
    source: 'Microsoft.MachineLearningServices/Workspaces/<name>',
    byDefault: of(
      'Microsoft.MachineLearningServices',
      'ModelRegistered ModelDeployed RunCompleted DatasetDriftDetected RunStatusChanged',
    ),
  },
  {
    name: 'Microsoft.Cache.Redis',
    displayName: 'Microsoft Azure Cache for Redis',
    description: 'Microsoft Azure Cache for Redis service events',
    source: 'Microsoft.Cache/Redis/<redisName>',
    byDefault: of('Microsoft.Cache', 'PatchingCompleted ScalingCompleted ImportRDBCompleted ExportRDBCompleted'),
  },
  {
    name: 'Microsoft.Communication.CommunicationServices',
    displayName: 'Azure Communication Services',
    description: 'Azure Communication Service Events',
    source: 'Microsoft.Communication/communicationservices/<name>',
    isGlobal: true,
    byDefault: of(
      'Microsoft.Communication',
      'SMSReceived SMSDeliveryReportReceived ChatMessageReceived ChatMessageEdited ChatMessageDeleted ChatThreadCreatedWithUser ' +
        'ChatThreadWithUserDeleted ChatThreadPropertiesUpdatedPerUser ChatParticipantAddedToThreadWithUser ' +
        'ChatParticipantRemovedFromThreadWithUser ChatMessageReceivedInThread ChatMessageEditedInThread ' +
        'ChatMessageDeletedInThread ChatThreadCreated ChatThreadDeleted ChatThreadPropertiesUpdated ' +
        'ChatThreadParticipantAdded ChatThreadParticipantRemoved ChatAzureBotCommandReceivedInThread ' +
        'ChatTypingIndicatorReceivedInThread RecordingFileStatusUpdated EmailDeliveryReportReceived ' +
        'EmailEngagementTrackingReportReceived IncomingCall UserDisconnected CallStarted CallEnded CallParticipantAdded ' +
        'CallParticipantRemoved AdvancedMessageReceived AdvancedMessageDeliveryStatusUpdated RouterJobReceived ' +
        'RouterJobClassified RouterJobQueued RouterJobClassificationFailed RouterJobCompleted RouterJobClosed ' +
        'RouterJobCancelled RouterJobExceptionTriggered RouterJobWorkerSelectorsExpired RouterJobUnassigned ' +
        'RouterJobWaitingForActivation RouterJobSchedulingFailed RouterJobDeleted RouterWorkerOfferIssued ' +
        'RouterWorkerOfferAccepted RouterWorkerOfferDeclined RouterWorkerOfferRevoked RouterWorkerOfferExpired ' +
        'RouterWorkerRegistered RouterWorkerDeregistered RouterWorkerDeleted RouterWorkerUpdated',
    ),
  },
  {
    name: 'Microsoft.PolicyInsights.PolicyStates',
    displayName: 'Microsoft PolicyInsights',
    description: 'Microsoft PolicyInsights service events',
    isGlobal: true,
    scopes: ['AzureSubscription', 'ManagementGroup'],
    byDefault: of('Microsoft.PolicyInsights', 'PolicyStateCreated PolicyStateChanged PolicyStateDeleted'),
  },
  {
    name: 'Microsoft.AgFoodPlatform.FarmBeats',
    displayName: 'Azure Data Manager for Agriculture (Preview)',
    description: 'Microsoft Azure Data Manager for Agriculture',
    source: 'Microsoft.AgFoodPlatform/farmBeats/<name>',
  },
  {
    name: 'Microsoft.ContainerService.ManagedClusters',
    displayName: 'Microsoft Container Service',
    description: 'Microsoft ContainerService Events',
    source: 'Microsoft.ContainerService/ManagedClusters/<name>',
    byDefault: of(
      'Microsoft.ContainerService',
      'NewKubernetesVersionAvailable ClusterSupportEnding ClusterSupportEnded NodePoolRollingStarted ' +
        'NodePoolRollingSucceeded NodePoolRollingFailed',
    ),
  },
  {
    name: 'Microsoft.ApiManagement.Service',
    displayName: 'Azure API Management Service',
    description: 'Microsoft ApiManagement Service events',
    source: 'Microsoft.ApiManagement/service/<name>',
    byDefault: of(
      'Microsoft.ApiManagement',
      'UserCreated UserUpdated UserDeleted APICreated APIUpdated APIDeleted ProductCreated ProductUpdated ProductDeleted ' +
        'APIReleaseCreated APIReleaseUpdated APIReleaseDeleted SubscriptionCreated SubscriptionUpdated SubscriptionDeleted ' +
        'GatewayCreated GatewayUpdated GatewayDeleted GatewayHostnameConfigurationCreated ' +
        'GatewayHostnameConfigurationUpdated GatewayHostnameConfigurationDeleted GatewayCertificateAuthorityCreated ' +
        'GatewayCertificateAuthorityUpdated GatewayCertificateAuthorityDeleted GatewayAPIAdded GatewayAPIRemoved ' +
        'GatewayTokenNearExpiry GatewayTokenExpired CircuitBreaker.Opened CircuitBreaker.Closed',
    ),
  },
  {
    name: 'Microsoft.HealthcareApis.Workspaces',
    displayName: 'Azure Health Data Services',
    description: 'Azure Health Data Services events',
    source: 'Microsoft.HealthcareApis/workspaces/<name>',
    byDefault: of(
      'Microsoft.HealthcareApis',
      'FhirResourceCreated FhirResourceUpdated FhirResourceDeleted DicomImageCreated DicomImageUpdated DicomImageDeleted',
    ),
  },
  {
    name: 'Microsoft.ResourceNotifications.Resources',
    displayName: 'Azure Resource Notifications - Resource Management events',
    description: 'Azure resource management events.',
    ...notified,
    permission: 'subscribeToResources',
    byDefault: of('Microsoft.ResourceNotifications.Resources', 'CreatedOrUpdated Deleted'),
  },
  {
    name: 'Microsoft.ResourceNotifications.HealthResources',
    displayName: 'Azure Resource Notifications - Health events (Preview)',
    description: 'Resource health events',
    ...notified,
    permission: 'subscribeToHealthResources',
    byDefault: of('Microsoft.ResourceNotifications.HealthResources', 'AvailabilityStatusChanged ResourceAnnotated'),
  },
  {
    name: 'Microsoft.DataBox.Jobs',
    displayName: 'Azure Data Box',
    description: 'Move stored or in-flight data to Azure quickly and cost-effectively',
    source: 'Microsoft.DataBox/jobs/<name>',
    byDefault: of('Microsoft.DataBox', 'CopyStarted CopyCompleted OrderCompleted'),
  },
  {
    name: 'Microsoft.EventGrid.Namespaces',
    displayName: 'Event Grid Namespaces',
    description: 'Event Grid Namespace events',
    source: 'Microsoft.EventGrid/namespaces/<name>',
    byDefault: of(
      'Microsoft.EventGrid',
      'MQTTClientSessionConnected MQTTClientSessionDisconnected MQTTClientCreatedOrUpdated MQTTClientDeleted',
    ),
  },
  {
    name: 'Microsoft.Maintenance.MaintenanceConfigurations',
    displayName: 'Maintenance Configurations (Preview)',
    description: 'Maintenance Configurations notifications',
    source: 'Microsoft.Maintenance/maintenanceconfigurations/<name>',
  },
  {
    name: 'Microsoft.ApiCenter.Services',
    displayName: 'Azure API Center (Preview)',
    description: 'Azure API Center service events.',
    source: 'Microsoft.ApiCenter/services/<name>',
    byDefault: of('Microsoft.ApiCenter', 'ApiDefinitionAdded ApiDefinitionUpdated'),
  },
  {
    name: 'Microsoft.ResourceNotifications.ContainerServiceEventResources',
    displayName: 'Azure Resource Notifications - Container Service events (Preview)',
    description: 'Container Service events',
    ...notified,
    permission: 'subscribeToContainerServiceEventResources',
    byDefault: of('Microsoft.ResourceNotifications.ContainerServiceEventResources', 'ScheduledEventEmitted'),
  },
  {
    name: 'Microsoft.Edge.Contexts',
    displayName: 'Workload Orchestration (Preview)',
    description:
      'Enable enterprises in scaling Kubernetes applications by managing configurations for heterogeneous environments across ' +
      'multiple sites.',
    source: 'Microsoft.Edge/contexts/<name>',
    byDefault: ['Microsoft.Edge.SolutionVersionPublished'],
  },
  {
    name: 'Microsoft.ResourceNotifications.AKSResources',
    displayName: 'Azure Resource Notifications – AKS Resources events (Preview)',
    description: 'Azure Kubernetes Resources',
    ...notified,
    permission: 'subscribeToAKSResources',
  },
]
