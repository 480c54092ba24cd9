package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.azure.core.credential.AzureKeyCredential;
import com.azure.core.models.CloudEvent;
import com.azure.core.models.CloudEventDataFormat;
import com.azure.core.util.BinaryData;
import com.azure.messaging.eventgrid.EventGridPublisherClient;
import com.azure.messaging.eventgrid.EventGridPublisherClientBuilder;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of an application that publishes by Azure's SDK, and of its webhook. */
class ShopTest {
  private static Emulator emulator;
  private static HttpServer webhook;
  private static EventGridPublisherClient<CloudEvent> publisher;
  /** What the webhook answers next; 200 after that. */
  private static final Queue<Integer> answers = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void start() throws IOException, InterruptedException {
    emulator = new Emulator();
    webhook = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    webhook.createContext("/", exchange -> {
      exchange.getRequestBody().readAllBytes();
      var isHandshake = exchange.getRequestMethod().equals("OPTIONS");
      exchange.getResponseHeaders().add("WebHook-Allowed-Origin", "*");
      var answer = isHandshake ? null : answers.poll();
      exchange.sendResponseHeaders(answer == null ? 200 : answer, -1);
      exchange.close();
    });
    webhook.start();
    publisher = new EventGridPublisherClientBuilder()
        .endpoint(emulator.topic("endpoint")).credential(new AzureKeyCredential(emulator.topic("key")))
        .buildCloudEventPublisherClient();
  }

  @BeforeEach
  void subscribe() throws IOException, InterruptedException {
    emulator.post("reset", Map.of("resources", true));
    answers.clear();
    subscribe(Map.of());
  }

  @AfterAll
  static void stop() throws IOException, InterruptedException {
    webhook.stop(0);
    emulator.close();
  }

  /** Makes the event subscription `billing`, and waits for its handshake. */
  private static void subscribe(Map<String, ?> properties) throws IOException, InterruptedException {
    var endpoint = "http://127.0.0.1:" + webhook.getAddress().getPort() + "/hook";
    emulator.post("subscriptions", Map.of("name", "billing", "endpoint", endpoint, "properties", properties));
  }

  /** The application under test. */
  private static void placeOrder(String order, int amount) {
    var data = BinaryData.fromObject(Map.of("amount", amount));
    var event = new CloudEvent("/shop", "order.placed", data, CloudEventDataFormat.JSON, "application/json");
    publisher.sendEvent(event.setSubject("orders/" + order));
  }

  /** What became of an order at the event subscription. */
  private static Map<?, ?> fateOf(String order) throws IOException, InterruptedException {
    var events = (List<?>) emulator.get("events?subject=orders/" + order).get("events");
    return (Map<?, ?>) ((List<?>) ((Map<?, ?>) events.get(0)).get("subscriptions")).get(0);
  }

  @Test
  void deliversAnOrder() throws IOException, InterruptedException {
    placeOrder("one", 5);
    emulator.post("settle", Map.of());
    assertEquals("delivered", fateOf("one").get("state"));
  }

  @Test
  void deliversARefusedOrderAgain() throws IOException, InterruptedException {
    answers.add(503);
    placeOrder("one", 5);
    emulator.post("clock", Map.of("advance", "1m"));
    assertEquals(List.of("delivered", 2), List.of(fateOf("one").get("state"), fateOf("one").get("tries")));
  }

  @Test
  void deliversLargeOrdersOnly() throws IOException, InterruptedException {
    var large = Map.of("operatorType", "NumberGreaterThan", "key", "data.amount", "value", 100);
    subscribe(Map.of("filter", Map.of("advancedFilters", List.of(large))));
    placeOrder("small", 5);
    emulator.post("settle", Map.of());
    assertEquals("data.amount of the event is 5: NumberGreaterThan does not match", fateOf("small").get("reason"));
  }
}
