import com.azure.core.credential.AzureKeyCredential;
import com.azure.core.credential.AzureSasCredential;
import com.azure.core.credential.TokenRequestContext;
import com.azure.core.exception.HttpResponseException;
import com.azure.core.http.policy.FixedDelayOptions;
import com.azure.core.http.policy.RetryOptions;
import com.azure.core.models.CloudEvent;
import com.azure.core.models.CloudEventDataFormat;
import com.azure.core.util.BinaryData;
import com.azure.identity.ClientSecretCredential;
import com.azure.identity.ClientSecretCredentialBuilder;
import com.azure.messaging.eventgrid.EventGridEvent;
import com.azure.messaging.eventgrid.EventGridPublisherClient;
import com.azure.messaging.eventgrid.EventGridPublisherClientBuilder;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;

/**
 * Azure's SDK for Java, as it is, against the emulator: azure-identity signs in, azure-messaging-eventgrid publishes. Each step is a line of
 * JSON on standard output; the environment says where all is.
 */
public final class Witness {
  private interface Check {
    void run() throws Exception;
  }

  private static final String CLOUD = System.getenv("CLOUD_ENDPOINT");
  private static final String GRID = System.getenv("GRID_ENDPOINT");
  private static final RetryOptions ONCE = new RetryOptions(new FixedDelayOptions(0, Duration.ofSeconds(1)));

  private static void step(String name, Check check) {
    String error = null;
    try {
      check.run();
    } catch (Exception | AssertionError thrown) {
      error = String.valueOf(thrown);
    }
    String more = error == null ? "" : ",\"error\":" + BinaryData.fromObject(error);
    System.out.println("{\"step\":" + BinaryData.fromObject(name) + more + "}");
  }

  private static void same(Object found, Object wanted) {
    if (!wanted.equals(found)) throw new AssertionError(found + " is not " + wanted);
  }

  private static void refused(int status, Check check) throws Exception {
    try {
      check.run();
    } catch (HttpResponseException answer) {
      same(answer.getResponse().getStatusCode(), status);
      return;
    }
    throw new AssertionError("it was not refused with " + status);
  }

  private static CloudEvent event(String id, Object data) {
    CloudEvent event =
        new CloudEvent("/orders/1", "order.placed", BinaryData.fromObject(data), CloudEventDataFormat.JSON, "application/json");
    return event.setId(id).setSubject("orders/1").addExtensionAttribute("tier", "gold");
  }

  private static EventGridPublisherClientBuilder at(String endpoint) {
    return new EventGridPublisherClientBuilder().endpoint(endpoint).retryOptions(ONCE);
  }

  private static void publish(EventGridPublisherClientBuilder builder, String id) {
    builder.buildCloudEventPublisherClient().sendEvent(event(id, Map.of("amount", 5)));
  }

  public static void main(String[] arguments) {
    ClientSecretCredential credential =
        new ClientSecretCredentialBuilder()
            .authorityHost(System.getenv("AUTHORITY_HOST"))
            .disableInstanceDiscovery()
            .tenantId(System.getenv("TENANT_ID"))
            .clientId(System.getenv("CLIENT_ID"))
            .clientSecret(System.getenv("CLIENT_SECRET"))
            .build();
    step("azure-identity gets a token for Resource Manager", () -> {
      TokenRequestContext context = new TokenRequestContext().addScopes("https://management.azure.com/.default");
      if (credential.getTokenSync(context).getToken().isEmpty()) throw new AssertionError("it is empty");
    });
    AzureKeyCredential key = new AzureKeyCredential(System.getenv("CLOUD_KEY"));
    step("it publishes a CloudEvent with a key", () -> publish(at(CLOUD).credential(key), "java-key"));
    step("it publishes a CloudEvent with a SAS token that it makes", () -> {
      String token = EventGridPublisherClient.generateSas(CLOUD, key, OffsetDateTime.now().plusHours(1));
      publish(at(CLOUD).credential(new AzureSasCredential(token)), "java-sas");
    });
    step("it publishes a CloudEvent with a token of Entra", () -> publish(at(CLOUD).credential(credential), "java-token"));
    step("it publishes an event of the Event Grid schema", () -> {
      EventGridEvent event = new EventGridEvent("orders/1", "Order.Placed", BinaryData.fromObject(Map.of("amount", 5)), "1.0");
      AzureKeyCredential own = new AzureKeyCredential(System.getenv("GRID_KEY"));
      at(GRID).credential(own).buildEventGridEventPublisherClient().sendEvent(event.setId("java-grid"));
    });
    step("it is refused with a wrong key", () ->
        refused(401, () -> publish(at(CLOUD).credential(new AzureKeyCredential("d3Jvbmc=")), "java-wrong")));
    step("it is told that a request of 1.7 MB is too large", () ->
        refused(413, () -> {
          String text = "x".repeat(850_000);
          List<CloudEvent> events = List.of(event("java-large-1", text), event("java-large-2", text));
          at(CLOUD).credential(key).buildCloudEventPublisherClient().sendEvents(events);
        }));
    // Threads of the HTTP client outlive the last answer.
    System.exit(0);
  }
}
