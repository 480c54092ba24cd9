/** In which regions each kind of source is, as Resource Manager listed them on 2026-03-13 (Azure/azure-sdk-assets, 2025-07-15-preview). */

const regions = (text: string) => text.trim().split(/,\s+/)

/** What most lists begin with. */
const usual = regions(`
  West US 2, West Central US, East US 2 EUAP, East US, West US, Central US, East US 2, West Europe, North Europe, Southeast Asia,
  East Asia, Japan East, Japan West, Australia East, Australia Southeast, North Central US, South Central US, Canada Central,
  Canada East, Central India, South India, France Central, UK West, Korea Central, Korea South, Central US EUAP, West India,
  Brazil South, UK South, Australia Central, Australia Central 2, France South, South Africa North, South Africa West, UAE North,
  UAE Central, Switzerland North, Switzerland West, Germany North, Germany West Central`)

/** Regions that Azure added to all lists, up to 2025 and since. */
const young = regions('Taiwan North, Taiwan Northwest, Mexico Central, Israel Central')
const youngest = regions(`
  New Zealand North, Southeast US, Indonesia Central, Chile Central, Malaysia West, South Central US 2, Southeast US 3, Austria East,
  Israel Northwest, Belgium Central, Southwest US, Southeast US 5, Denmark East, East US 3, Northeast US 5, India South Central`)
const last = youngest.slice(youngest.indexOf('Israel Northwest'))
const added = ['Spain Central', ...young, ...youngest]

const eventGrid = [
  ...usual,
  ...regions('Brazil Southeast, West US 3, Jio India Central, Jio India West, Sweden Central, Sweden South'),
  ...regions('Qatar Central, Poland Central'),
  ...added,
]

/** By the names of topic types; those that are global have none. */
export const topicTypeLocations: Readonly<Record<string, readonly string[]>> = {
  'Microsoft.Eventhub.Namespaces': ['West US 2', 'West US 3', ...usual.slice(1), 'spaincentral', ...young, ...youngest],
  'Microsoft.Storage.StorageAccounts': [
    ...usual.toSpliced(3, 0, 'East US 2 (Stage)'),
    ...regions(`
      Norway East, Norway West, West US 3, Jio India Central, Jio India West, Sweden Central, Sweden South, Qatar Central,
      Poland Central, Israel Central, Taiwan North, Taiwan Northwest, Mexico Central, Spain Central, Italy North, Malaysia South`),
    ...youngest,
  ],
  'Microsoft.Devices.IoTHubs': [
    ...regions(`
      West US 2, West Central US, East US, West US, Central US, East US 2, West Europe, North Europe, Southeast Asia, East Asia,
      Japan East, Japan West, Australia East, Australia Southeast, Canada Central, Canada East, Central India, South India, UK West,
      Central US EUAP, West India, Brazil South, UK South, North Central US, South Central US, Korea Central, Korea South,
      France Central, UAE North, UAE Central, South Africa North, South Africa West, Germany North, Germany West Central,
      Australia Central, Australia Central 2, East US 2 EUAP, France South, West US 3, Qatar Central, Poland Central, spaincentral`),
    ...young,
    'Switzerland North',
    ...youngest,
  ],
  'Microsoft.EventGrid.Topics': eventGrid,
  'Microsoft.ServiceBus.Namespaces': [...usual, ...added],
  'Microsoft.ContainerRegistry.Registries': [
    ...regions(`
      West US 2, West Central US, East US 2 EUAP, East US, West US, Central US, East US 2, West Europe, North Europe, Southeast Asia,
      East Asia, South Central US, North Central US, Central US EUAP, Brazil South, Canada East, Canada Central, UK South, UK West,
      Australia East, Australia Southeast, Central India, Japan East, Japan West, South India, Spain Central, Taiwan North,
      Taiwan Northwest, Mexico Central, Israel Central, Switzerland North, France Central, UAE North, Korea Central,
      South Africa North, Switzerland West, UAE Central, Brazil Southeast, Germany Westcentral, Norway East, Korea South, West US 3,
      Norway West, Sweden Central, Sweden South, JIO India Central, JIO India West, Australia Central 2, Australia Central,
      Qatar Central, South Africa West, Germany North, Poland Central, France South, Italy North`),
    ...youngest,
  ],
  'Microsoft.Media.MediaServices': [
    ...regions(`
      Australia East, Australia Southeast, Brazil South, Canada Central, Canada East, Central India, Central US, Central US EUAP,
      East Asia, East US, East US 2, East US 2 EUAP, France Central, France South, Japan East, Japan West, Korea Central, Korea South,
      North Central US, North Europe, South Central US, South India, Southeast Asia, UK South, UK West, West Central US, West Europe,
      West India, West US, West US 2, West US 3, South Africa North, South Africa West, UAE North, UAE Central, Switzerland North,
      Switzerland West, Germany North, Germany West Central, Norway East, Brazil Southeast, Sweden Central, Jio India West,
      Australia Central, Qatar Central`),
    ...added,
  ],
  'Microsoft.EventGrid.Domains': eventGrid,
  'Microsoft.AppConfiguration.ConfigurationStores': [
    ...regions(`
      East US 2 EUAP, West Central US, East US, South East Asia, West Europe, Australia East, North Europe, UK South, South Central US,
      East US 2, West US 2, West US, Central US, Brazil South, Canada Central, East Asia, France Central, Japan East, Korea Central,
      North Central US, Central India, Spain Central, Canada East, Australia Central, Australia Central 2, Australia Southeast,
      Brazil Southeast, France South, Germany North, Germany West Central, Israel Central, Italy North, Japan West, Jio India West,
      Korea South, Norway East, Norway West, Poland Central, Qatar Central, South Africa North, South Africa West, South India,
      Sweden Central, Sweden South, Switzerland North, Switzerland West, UAE North, UK West, West US 3, Taiwan North,
      Taiwan Northwest, Mexico Central`),
    ...youngest,
  ],
  'Microsoft.KeyVault.vaults': [
    ...usual,
    ...regions('Brazil Southeast, West US 3, Jio India Central, Jio India West, Sweden Central, Sweden South'),
    ...regions('Qatar Central, Norway East, Norway West, Italy North'),
    ...added,
  ],
  'Microsoft.Web.Sites': [...usual, ...added],
  'Microsoft.Web.ServerFarms': [...usual, ...added],
  'Microsoft.SignalRService.SignalR': [
    ...regions(`
      Australia East, Canada East, Central US, Central US EUAP, East US 2 EUAP, East US, East US 2, Japan East, North Europe,
      South Central US, Southeast Asia, UK South, UK West, West Central US, West Europe, West US, West US 2, Brazil South,
      Korea Central, France Central, Switzerland North, Switzerland West, Central India, South Africa North, UAE North,
      Germany West Central, North Central US, Norway East, East Asia, Canada Central, West India, South India, Japan West, West US 3,
      Sweden Central, Qatar Central, Australia Southeast, Spain Central, Poland Central`),
    ...young,
    ...regions('Jio India West, Jio India Central, Australia Central'),
    ...youngest,
  ],
  'Microsoft.MachineLearningServices.Workspaces': [
    ...regions(`
      East US 2 EUAP, West Central US, East US, East US 2, Central US EUAP, Central US, South Central US, North Central US, West US,
      West US 2, Canada Central, Brazil South, West Europe, North Europe, UK South, France Central, Southeast Asia, East Asia,
      Japan East, Korea South, Korea Central, Australia East, Germany West Central, Central India, Japan West, Jio India West,
      Norway East, South Africa North, Switzerland North, UAE North, West US 3, Spain Central, Canada East, Australia South East,
      Germany North, Italy North, Norway West, Poland Central, Qatar Central, South India, Sweden Central, Switzerland West, UK West`),
    ...young,
    ...youngest,
  ],
  'Microsoft.Cache.Redis': [
    ...usual,
    ...regions(`
      Brazil Southeast, West US 3, Qatar Central, Spain Central, Italy North, Jio India Central, Jio India West, Malaysia South,
      Norway East, Norway West, Poland Central, Sweden Central, Sweden South`),
    ...young,
    ...youngest,
  ],
  'Microsoft.AgFoodPlatform.FarmBeats': [...usual, 'Brazil Southeast', 'West US 3', ...added],
  'Microsoft.ContainerService.ManagedClusters': [
    ...regions(`
      East US 2, East US, West Europe, Central US, West US 2, UK South, Central US EUAP, North Europe, South Central US, West US,
      Australia East, West Central US, Canada Central, Germany West Central, West US 3, Korea Central, North Central US, UK West,
      Australia Southeast, Japan East, Southeast Asia, Brazil South, Jio India Central, Switzerland West, France Central,
      Sweden Central, East Asia, South Africa West, Australia Central, South India, East US 2 EUAP, Central India, Canada East,
      Germany North, Poland Central, South Africa North, Brazil Southeast, UAE North, UAE Central, Switzerland North, Qatar Central,
      Australia Central 2, Japan West, Norway West, France South, Norway East, Korea South, Sweden South, Jio India West,
      Spain Central, Malaysia South, Italy North`),
    ...young,
    ...youngest,
  ],
  'Microsoft.ApiManagement.Service': [
    ...usual,
    ...regions(`
      Brazil Southeast, West US 3, Jio India Central, Jio India West, Sweden Central, Sweden South, Qatar Central`),
    ...added,
  ],
  'Microsoft.HealthcareApis.Workspaces': [
    ...regions(`
      South Central US, West Europe, North Europe, East US, East US 2, Australia East, UK South, West US 2, Canada Central, Central US,
      Australia Central, East US 2 EUAP, Central India, Korea Central, Southeast Asia, Sweden Central, Switzerland North, West US 3,
      North Central US, France Central, Qatar Central, japaneast, westcentralus, UAE North, Germany West Central, UK West`),
    ...added,
  ],
  'Microsoft.DataBox.Jobs': [
    ...regions(`
      West US 2, West Central US, East US, West US, Central US, East US 2, West Europe, North Europe, Southeast Asia, East Asia,
      Japan East, Japan West, Australia East, Australia Southeast, Canada Central, Canada East, Central India, South India, UK West,
      Central US EUAP, West India, Brazil South, UK South, North Central US, South Central US, Korea Central, Korea South,
      France Central, UAE North, UAE Central, South Africa North, South Africa West, Germany North, Germany West Central,
      Australia Central, Australia Central 2, East US 2 EUAP, France South, West US 3`),
    ...added,
  ],
  'Microsoft.EventGrid.Namespaces': [
    ...regions(`
      eastus2euap, centraluseuap, westus3, eastus2, centralus, westus2, eastus, northeurope, westeurope, eastasia, southeastasia,
      southcentralus, uaenorth`),
    ...added,
  ],
  'Microsoft.Maintenance.MaintenanceConfigurations': [
    ...regions(`
      Central US, East US, East US 2, West US, West US 2, West Central US, North Central US, South Central US, North Europe,
      West Europe, East Asia, Southeast Asia, Japan East, Japan West, Australia East, Australia Southeast, Australia Central,
      Australia Central 2, South Africa North, South Africa West, Brazil South, South India, Central India, West India,
      Canada Central, Canada East, UK South, UK West, Korea Central, Korea South, France Central, France South, UAE North,
      UAE Central, Germany West Central, Germany North, Switzerland North, Switzerland West, Norway West, Norway East,
      Brazil Southeast, West US 3, Jio India West, Jio India Central, Sweden South, Sweden Central, Poland Central, Qatar Central,
      Israel Central, Italy North, Malaysia South, Mexico Central, Spain Central, centraluseuap, eastus2euap, Taiwan North,
      Taiwan Northwest`),
    ...youngest,
  ],
  'Microsoft.ApiCenter.Services': [
    ...regions('Central US EUAP, East US, West Europe, UK South, Australia East, Central India'),
    ...young,
    ...youngest,
  ],
  'Microsoft.Edge.Contexts': [...regions('East US, East US 2, East US 2 EUAP, Central US EUAP'), ...last],
}
